#!/bin/sh
# eksproxy format 1
# Puts the node behind the proxy at %WHEN%. EKSPROXY_* is for tests.
set -fu
umask 022
export LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin
root=${EKSPROXY_ROOT:-} failed=0
say() { echo "eksproxy: $*" >&2; }

# cloud-init has no limit, so that this has one.
if [ -z "${EKSPROXY_BOUND:-}" ]; then
  export EKSPROXY_BOUND=1
  exec timeout -k 5 %SECONDS% /bin/sh "$0"
fi

# put PATH MODE COMMAND: writes what the command prints where it differs. "-"
# keeps the mode. Links are followed, readers see the old file or the new one.
put() {
  file=$1 mode=$2
  shift 2
  while [ -L "$root$file" ]; do
    to=$(readlink "$root$file")
    case $to in /*) file=$to ;; *) file=${file%/*}/$to ;; esac
  done
  file=$root$file
  new=${file%/*}/.${file##*/}.eksproxy-new
  [ "$mode" != - ] || mode=$(stat -c %a "$file" 2>/dev/null || echo 644)
  if text=$("$@" && echo .); then
    ! same || return
    mkdir -p "${file%/*}" && rm -f "$new" && copy && chmod "$mode" "$new" &&
      printf %s "${text%.}" >"$new" && mv -f "$new" "$file" && return
  fi
  rm -f "$new"
  say "$file cannot be written"
  failed=1
}
same() {
  [ -e "$file" ] && [ "$(stat -c %a "$file")" = "$mode" ] && [ "$(cat "$file" && echo .)" = "$text" ]
}
copy() { if [ -e "$file" ]; then cp -a "$file" "$new"; else : >"$new"; fi; }

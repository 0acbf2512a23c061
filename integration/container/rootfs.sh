#!/usr/bin/env bash
# Makes the root file system of a node, as a compressed archive, from the
# host's own package sources.
#
#   rootfs.sh PACKAGES OUT.tar.zst
set -euo pipefail

packages=$(grep -v '^#' "$1" | paste -sd,)
out=$2

sources=/etc/apt/sources.list.d/debian.sources
[ -e "$sources" ] || sources=/etc/apt/sources.list

options=()
for name in Acquire::http::Proxy Acquire::https::Proxy; do
  value=
  eval "$(apt-config shell value "$name")"
  [ -z "$value" ] || options+=(--aptopt="$name \"$value\"")
done

trap 'rm -f "$out.new"' EXIT
# Nothing of the host stays in it. An empty machine-id makes each node choose
# its own. A node does not look for packages by itself.
mmdebstrap --quiet --variant=minbase --format=tar "${options[@]}" --include="$packages" \
  --customize-hook='rm -f "$1/etc/hostname"; : >"$1/etc/machine-id"' \
  --customize-hook='echo "127.0.0.1 localhost" >"$1/etc/hosts"' \
  --customize-hook='for u in apt-daily apt-daily-upgrade; do ln -sf /dev/null "$1/etc/systemd/system/$u.timer"; done' \
  bookworm - "$sources" | zstd -3 -T0 -q -o "$out.new"
mv "$out.new" "$out"

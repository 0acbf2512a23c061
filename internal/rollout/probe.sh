# Proves that this pod resolves a name and connects to the Service kubernetes,
# with what the image has. The pod has an address already, else nothing runs.
# Ends with 0, 10 no DNS, 11 no connection, 12 no tool for it. What it says last
# becomes the message in the pod's status.
name=${PROBE_NAME:-kubernetes.default}
resolv=${PROBE_RESOLV:-/etc/resolv.conf}
log=${PROBE_LOG:-/dev/termination-log}
tries=${PROBE_TRIES:-3}
host=$KUBERNETES_SERVICE_HOST
port=$KUBERNETES_SERVICE_PORT

has() { command -v "$1" >/dev/null 2>&1; }

say() {
  echo "$1"
  echo "$1" 2>/dev/null >"$log" || :
}

# limited runs a command for some seconds at most, where the image can do that.
limited() {
  if has timeout; then timeout 10 "$@"; else "$@"; fi
}

# again tries a command a few times: the first packets of a new pod may be lost.
# A command that has no tool (12) is not tried again.
again() {
  left=$tries
  while :; do
    "$@" && return 0
    code=$?
    left=$((left - 1))
    if [ "$code" = 12 ] || [ "$left" -le 0 ]; then return "$code"; fi
    ! has sleep || sleep 1
  done
}

# connect HOST: curl's own failures after the connection prove the connection:
# only 5, 6, 7 and 28 come before it.
connect() {
  if has bash; then
    limited bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$port" 2>/dev/null && return 0
    return 1
  fi
  if has curl; then
    case $1 in *:*) to="[$1]" ;; *) to=$1 ;; esac
    limited curl -ks --noproxy '*' -m 8 -o /dev/null "https://$to:$port/" 2>/dev/null
    case $? in 5 | 6 | 7 | 28 | 124 | 143) return 1 ;; esac
    return 0
  fi
  if has nc; then
    limited nc -z -w 5 "$1" "$port" >/dev/null 2>&1 && return 0
    # Not every nc knows -z.
    limited nc -w 5 "$1" "$port" </dev/null >/dev/null 2>&1 && return 0
    return 1
  fi
  return 12
}

# full is the name with the search domain of Services: not every nslookup looks
# through the search list.
full() {
  while read -r word rest; do
    [ "$word" = search ] || continue
    for domain in $rest; do
      case $domain in svc.*) echo "$name.$domain" && return ;; esac
    done
  done <"$resolv" 2>/dev/null
  echo "$name"
}

resolve() {
  if has getent; then
    limited getent hosts "$name" >/dev/null 2>&1 && return 0
    return 1
  fi
  if has nslookup; then
    limited nslookup "$name" >/dev/null 2>&1 && return 0
    limited nslookup "$(full)" >/dev/null 2>&1 && return 0
    return 1
  fi
  connect "$name"
}

again connect "$host"
reached=$?
again resolve
resolved=$?
if [ "$reached" = 12 ] && [ "$resolved" = 0 ]; then
  say "$name was resolved; the image has no bash, curl or nc to connect with"
  exit 12
fi
if [ "$resolved" = 12 ]; then
  say "the image has no getent, nslookup, bash, curl or nc"
  exit 12
fi
if [ "$resolved" != 0 ] && [ "$reached" != 1 ]; then
  say "$name was not resolved"
  exit 10
fi
if [ "$reached" != 0 ]; then
  say "no connection to $host port $port"
  exit 11
fi
say "$name was resolved, and $host port $port connects"


nl='
'
tries=0
# call PATH OPTIONS: asks metadata, without a proxy, and 20 times in all.
# Status 4: there is no such path.
call() {
  path=$1
  shift
  while [ "$tries" -lt 20 ]; do
    text=$(curl --noproxy '*' -sg --connect-timeout 1 --max-time 2 -w '\n%{http_code}' "$@" \
      "${EKSPROXY_IMDS_ENDPOINT:-http://169.254.169.254}/latest/$path")
    code=${text##*"$nl"} text=${text%"$nl"*}
    case $code in 200) return ;; 404) return 4 ;; esac
    tries=$((tries + 1))
    sleep 1
  done
  say "metadata: $path: HTTP $code"
  return 1
}

vpc_cidrs() {
  call api/token -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 300' || return 1
  token="X-aws-ec2-metadata-token: $text" macs=meta-data/network/interfaces/macs blocks=
  call $macs/ -H "$token" || return 1
  for mac in $text; do
    for kind in $kinds; do
      call "$macs/${mac%/}/$kind" -H "$token"
      case $? in 0) blocks=$blocks$text$nl ;; 4) ;; *) return 1 ;; esac
    done
  done
  sorted=$(printf %s "$blocks" | awk '%AWK%') || { say "metadata: a wrong CIDR"; return 1; }
  vpc=$(echo "$sorted" | sort -u | cut -d ' ' -f 2 | paste -s -d , -)
  [ -n "$vpc" ]
}


# NO_PROXY: before, the CIDRs of the VPC, after. +zone is zone,.zone,*.zone.
before='%BEFORE%'
vpc='%VPC%'
after='%AFTER%'
%ASK%%OMIT%
add() {
  IFS=,
  for entry in $1; do
    case ,$vpc, in *,"$entry",*) continue ;; esac
    case $entry in +*) entry=${entry#+}; entry="$entry,.$entry,*.$entry" ;; esac
    no_proxy=$no_proxy${no_proxy:+,}$entry
  done
  unset IFS
}
no_proxy=
add "$before"
no_proxy=$no_proxy${no_proxy:+${vpc:+,}}$vpc
add "$after"
%FIXED%
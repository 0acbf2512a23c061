
kinds='%KINDS%' rendered=$vpc
if ! vpc_cidrs; then
  vpc=$rendered
  say "no CIDRs of the VPC from metadata; rendered: ${vpc:-none}"
  [ -n "$vpc" ] || exit 1
fi

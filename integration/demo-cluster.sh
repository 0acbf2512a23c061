#!/usr/bin/env bash
# Shows the add-ons of a cluster going behind the proxy and back, on a real
# control plane with simulated nodes on this machine: no AWS account, no
# cluster, no root.
set -euo pipefail

bin=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'exec 3>&-; wait 2>/dev/null || true; rm -rf "$work"' EXIT
PATH=$bin:$PATH
cd "$work"

run() { printf '\n$ %s\n' "$*"; "$@"; }

mkfifo stop
(cd "$here" && exec controlplane -nodes 3 -eks) <stop >started & # it looks for its programs in the checkout
exec 3>stop # the control plane ends with this script
for _ in $(seq 300); do
  [ -s started ] && break
  kill -0 $! 2>/dev/null || { echo "the control plane does not start" >&2; exit 1; }
  sleep 0.2
done
cp "$(cat started)" prod.yaml

settings=(--kubeconfig prod.yaml --vpc-cidr 10.40.0.0/16 --vpc-cidr 100.64.0.0/16 --service-cidr 10.100.0.0/16
  --no-proxy-add .corp.example --http-proxy http://proxy.example:3128)
run eksproxy addons plan "${settings[@]}"
run eksproxy addons patch "${settings[@]}" --reason CHG0012
run eksproxy addons patch "${settings[@]}"
run eksproxy addons status --kubeconfig prod.yaml
run eksproxy verify cluster --kubeconfig prod.yaml
run eksproxy addons revert --kubeconfig prod.yaml

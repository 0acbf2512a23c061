#!/usr/bin/env bash
# Shows the main job on a scratch tree of Amazon Linux 2023: metadata, plan,
# apply, status, the reasons of NO_PROXY, revert. It needs no root and touches
# nothing outside its own directory.
set -euo pipefail
bin=$1
work=$(mktemp -d)
trap 'kill "${server:-0}" 2>/dev/null || true; rm -rf "$work"' EXIT

say() { if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi; }
run() { printf '$ %s\n' "$*"; "$@"; }

# A tree as an image has it.
tree=$work/image
mkdir -p "$tree"/etc/dnf "$tree"/usr/lib/systemd/system "$tree"/var/lib
printf 'NAME="Amazon Linux"\nID="amzn"\nVERSION_ID="2023"\n' >"$tree/etc/os-release"
printf '[main]\ngpgcheck=1\n' >"$tree/etc/dnf/dnf.conf"
ln -s dnf/dnf.conf "$tree/etc/yum.conf"
touch "$tree/usr/lib/systemd/system/"{containerd,kubelet,nodeadm-config,nodeadm-run}.service
cp -a "$tree" "$work/before"

# An instance whose user data names the cluster.
cat >"$work/user-data" <<'Y'
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  cluster:
    name: demo
    apiServerEndpoint: https://ID.gr7.eu-west-1.eks.amazonaws.com
    cidr: 10.100.0.0/16
Y
"$bin/metadata-server" --region eu-west-1 --vpc-cidr 10.40.0.0/16 --vpc-cidr 100.64.0.0/16 \
  --user-data "$work/user-data" >"$work/url" &
server=$!
for _ in $(seq 100); do [ -s "$work/url" ] && break; sleep 0.05; done

cd "$work"
export PATH="$bin:$PATH"
printf 'svc-eks:p@ss%%word\n' >login
flags=(--root image --imds-endpoint "$(cat url)" --http-proxy http://proxy.example:3128
  --credentials-file login --no-proxy-add .corp.example)
ln -s "$bin/eksproxy-agent" eksproxy
PATH="$work:$PATH"

say "What would be done"
run eksproxy node plan "${flags[@]}"
say "Do it"
run eksproxy node apply "${flags[@]}"
say "Again: nothing is written"
run eksproxy node apply "${flags[@]}"
say "How it stands"
run eksproxy node status --root image
say "NO_PROXY, and why"
run eksproxy noproxy compute --imds-endpoint "$(cat url)" --no-proxy-add .corp.example
say "Take it back"
run eksproxy node revert --root image
diff -r --no-dereference before image && echo "the tree is as it was before"

#!/usr/bin/env bash
# Builds the programs of a real Kubernetes control plane from Go modules into
# .cache/kube, those that are missing or were built from other sources.
#
#   build.sh             build what is missing, and say how long each part took
#   build.sh check       build nothing, and fail where a program is missing
#
# One "go build" at a time: it fills every core, and two would only share them.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=$root/.cache/kube
mode=${1:-build}

# The version is what the server and kubectl say they are; without it they
# report a placeholder that clients refuse to compare with their own.
kube_version=$(sed -En 's|^\s*(require )?k8s.io/kubernetes v([^ ]*).*|\2|p' "$root/tools/kubernetes/go.mod")
IFS=. read -r major minor _ <<<"$kube_version"
base=k8s.io/component-base/version
kube_flags="-s -w -X $base.gitVersion=v$kube_version -X $base.gitMajor=$major -X $base.gitMinor=$minor -X $base.gitTreeState=clean"

# Each part: program, folder of its module below tools/, package. The order is
# that of the wait: what the first tests need comes first.
parts="
etcd                    etcd       go.etcd.io/etcd/server/v3
kube-apiserver          kubernetes k8s.io/kubernetes/cmd/kube-apiserver
kubectl                 kubernetes k8s.io/kubernetes/cmd/kubectl
kube-controller-manager kubernetes k8s.io/kubernetes/cmd/kube-controller-manager
kube-scheduler          kubernetes k8s.io/kubernetes/cmd/kube-scheduler
kwok                    kwok       sigs.k8s.io/kwok/cmd/kwok
"

# flags are the linker's flags of a module.
flags() {
  if [ "$1" = kubernetes ]; then echo "$kube_flags"; else echo "-s -w"; fi
}

# key is what a program was built from.
key() {
  { cat "$root/tools/$1/go.mod" "$root/tools/$1/go.sum" && flags "$1"; } | sha256sum | cut -c 1-64
}

# build builds one part into place only when it is complete, so that a build
# that was cut short leaves nothing that looks finished.
build() {
  local name=$1 module=$2 package=$3 key=$4
  rm -f "$out/$name.key"
  (cd "$root/tools/$module" &&
    CGO_ENABLED=0 GOWORK=off go build -trimpath -ldflags "$(flags "$module")" -o "$out/$name.new" "$package")
  mv "$out/$name.new" "$out/$name"
  echo "$key" >"$out/$name.key"
}

mkdir -p "$out"
if [ "$mode" != check ]; then
  exec 9>"$out/.lock" && flock 9 # test processes start at the same time
fi
missing=0
while read -r name module package; do
  [ -n "$name" ] || continue
  key=$(key "$module")
  if [ -x "$out/$name" ] && [ "$(cat "$out/$name.key" 2>/dev/null)" = "$key" ]; then
    continue
  fi
  if [ "$mode" = check ]; then
    echo "controlplane: $name is not built: run $here/build.sh" >&2
    missing=1
    continue
  fi
  start=$SECONDS
  build "$name" "$module" "$package" "$key"
  echo "controlplane: built $name in $((SECONDS - start)) s"
done <<<"$parts"
exit "$missing"

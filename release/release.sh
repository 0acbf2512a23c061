#!/usr/bin/env bash
# Builds what is shipped into a directory: the full program for every system,
# the agent for nodes, an SBOM beside each, packages of the agent, checksums.
# The same commit gives the same bytes. RELEASE_TARGETS builds for some only.
#
#   release/release.sh DIR VERSION
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
version=$2
cd "$(dirname "$0")/.."
tool() { go tool -modfile=tools/go.mod "$@"; }
# Packages and SBOMs carry a time: that of the commit, not of the build.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH CGO_ENABLED=0

build() { # NAME GOOS GOARCH TAGS
  GOOS=$2 GOARCH=$3 go build -trimpath -buildvcs=false -tags "$4" \
    -ldflags "-s -w -buildid= -X main.version=$version" -o "$out/$1" ./cmd/eksproxy
  chmod 755 "$out/$1"
  tool cyclonedx-gomod bin -json -noserial -version "$version" -output "$out/$1.sbom.json" "$out/$1"
  sed -i -E "s/^( *\"timestamp\": \").*(\",)$/\1$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)\2/" "$out/$1.sbom.json"
}

targets=${RELEASE_TARGETS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}
for target in $targets; do
  os=${target%/*} arch=${target#*/} suffix=
  [ "$os" = windows ] && suffix=.exe
  build "eksproxy-$os-$arch$suffix" "$os" "$arch" urfave_cli_no_docs
done
for arch in amd64 arm64; do
  [[ " $targets " = *" linux/$arch "* ]] || continue
  build "eksproxy-agent-linux-$arch" linux "$arch" "nodeonly urfave_cli_no_docs"
  for packager in rpm deb; do
    AGENT="$out/eksproxy-agent-linux-$arch" ARCH=$arch VERSION=${version#v} \
      tool nfpm package --config release/nfpm.yaml --packager "$packager" --target "$out/"
  done
done
(cd "$out" && rm -f SHA256SUMS && sha256sum -- * >SHA256SUMS)

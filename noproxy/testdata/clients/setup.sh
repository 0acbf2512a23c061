#!/usr/bin/env bash
# Puts the real clients into CACHE/clients, each once: what is there and was made
# from the same files stays. It says what the machine lacks for it.
# Usage: setup.sh CACHE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$1/clients
mkdir -p "$root"

# fresh NAME FILE... succeeds where NAME was made from these files.
fresh() {
  local name=$1
  shift
  [ "$(cat "$root/$name.made" 2>/dev/null)" = "$(cat "$@" | sha256sum)" ]
}

# made NAME FILE... remembers what NAME was made from.
made() {
  local name=$1
  shift
  cat "$@" | sha256sum >"$root/$name.made"
}

python() {
  fresh python "$here/requirements.txt" && return
  rm -rf "$root/python"
  python3 -m venv "$root/python"
  "$root/python/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  made python "$here/requirements.txt"
}

node() {
  mkdir -p "$root/node"
  cp "$here/driver.mjs" "$root/node/driver.mjs"
  fresh node "$here/node/package.json" "$here/node/package-lock.json" && return
  rm -rf "$root/node/node_modules"
  cp "$here/node/package.json" "$here/node/package-lock.json" "$root/node/"
  (cd "$root/node" && npm ci --silent --no-audit --no-fund --ignore-scripts)
  ln -sf "$root"/node/node_modules/node-linux-*/bin/node "$root/node/node"
  made node "$here/node/package.json" "$here/node/package-lock.json"
}

golang() {
  (cd "$here/go" && go build -trimpath -o "$root/godriver" .)
}

# crate NAME SOURCE DEPENDENCIES builds one Rust program.
crate() {
  local name=$1 source=$2 dependencies=$3
  printf '%s' "$dependencies" >"$root/$name.toml"
  fresh "$name" "$here/rust/$source" "$root/$name.toml" && return
  mkdir -p "$root/rust/$name"
  {
    printf '[package]\nname = "driver"\nversion = "0.1.0"\nedition = "2021"\n'
    printf '[[bin]]\nname = "driver"\npath = "%s"\n[workspace]\n' "$here/rust/$source"
    printf '[dependencies]\n%s\n' "$dependencies"
  } >"$root/rust/$name/Cargo.toml"
  (cd "$root/rust/$name" && CARGO_PROFILE_DEV_DEBUG=0 cargo build --quiet)
  cp "$root/rust/$name/target/debug/driver" "$root/$name"
  rm -rf "$root/rust/$name"
  made "$name" "$here/rust/$source" "$root/$name.toml"
}

# reqwest is a client of Rust.
reqwest() {
  command -v cargo >/dev/null || return 0
  crate reqwest reqwest.rs 'reqwest = { version = "=0.12.28", features = ["blocking"] }
hyper-util = "=0.1.21"'
}

# libcurl comes from Rust too, in the versions that Debian does not have.
libcurl() {
  command -v cargo >/dev/null || return 0
  local version
  for version in 0.4.56 0.4.63 0.4.74 0.4.83 0.4.86; do
    crate "curl-sys-$version" curl.rs "curl-sys = { version = \"=$version\", features = [\"static-curl\", \"ssl\"] }"
  done
}

java() {
  command -v javac >/dev/null || return 0
  fresh java "$here/Driver.java" && return
  mkdir -p "$root/java"
  javac -d "$root/java" "$here/Driver.java"
  made java "$here/Driver.java"
}

# Side by side: each of them waits, or uses one processor.
parts=()
for part in python node golang java reqwest libcurl; do
  "$part" &
  parts+=($!)
done
for part in "${parts[@]}"; do
  wait "$part"
done

#!/usr/bin/env bash
# Installs the Debian packages that the tests talk to. It does nothing where all
# are there, and says what is missing where it may not install.
set -euo pipefail

packages=(
  apt bash dash libpam-modules login python3-dnf python3-iniparse # readers of the files
  curl gawk mawk python3 shellcheck                               # scripts of user data
  iproute2 strace                                                 # networks, system calls
  mmdebstrap squid-openssl systemd-container zstd                 # nodes that boot
  python3-venv                                                    # the AWS mock
  git ruby wget ruby-aws-sdk-core python3-librepo                 # clients that read NO_PROXY
  php-cli php-curl php-guzzlehttp-guzzle                          # and more of them
)

missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing+=("$p")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "setup: every package is installed"
  exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "setup: NOT INSTALLED, and this is not root: ${missing[*]}" >&2
  echo "setup: run: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
echo "setup: installed ${missing[*]}"

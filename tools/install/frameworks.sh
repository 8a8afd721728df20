#!/usr/bin/env bash
# Installs what tests/frameworks runs, as far as it is missing, into
# ${CROSSOVER_CACHE:-~/.cache/crossover}/frameworks-1: the Python packages of frameworks.txt (6 GB), and an SSH server.
# The server is only unpacked: if it were installed, it would listen on this machine. A debugger and an SSH client are
# installed (needs root). It takes some three minutes.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly pins=$here/frameworks.txt
readonly root=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/frameworks-1
readonly stamp=$root/.installed  # a copy of the pins, written last
readonly mode=install

# shellcheck source=tools/install/debian.sh
. "$here/debian.sh"

unpack() {  # DEBIAN_PACKAGE...
  local work file
  work=$(mktemp -d)
  chmod 755 "$work"
  (cd "$work" && apt-get -qq -o APT::Sandbox::User=root download "$@")
  for file in "$work"/*.deb; do dpkg-deb -x "$file" "$root/unpacked"; done
  rm -rf "$work"
}

printf 'gdb\ngit\nopenssh-client\n' | install_packages
mkdir -p "$(dirname "$root")"
exec 9> "$root.lock"
flock 9
cmp -s "$pins" "$stamp" && exit 0
say "installing PyTorch and JAX into $root"
"$root/bin/python" -c '' 2> /dev/null || python3 -m venv --clear "$root"
"$root/bin/python" -m pip install -q --disable-pip-version-check --no-input -r "$pins"
unpack openssh-server libwrap0
cp "$pins" "$stamp"

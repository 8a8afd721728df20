#!/usr/bin/env bash
# Makes roots with C libraries of images, for tests that run programs in them, in
# ${CROSSOVER_CACHE:-~/.cache/crossover}/images-1: `bullseye` (glibc 2.31), `musl` and `arm64` (for an
# emulator); and what tests build the images of docker/ with and on: `builder`, and `base`, a small Debian with the
# packages that these name.
# Half a minute, once; needs root.
set -euo pipefail

readonly images=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/images-1

make_root() {  # NAME SUITE PACKAGE [ARCHITECTURE]
  [[ -e $images/$1/.complete ]] && return
  echo "install: $images/$1 ($3 of $2)" >&2
  rm -rf "${images:?}/$1"
  mmdebstrap --quiet --variant=extract ${4:+--architectures="$4"} --include="$3" "$2" "$images/$1" 2> >(grep -v '^W: ' >&2)
  touch "$images/$1/.complete"
}

readonly mode=install

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
# shellcheck source=tools/install/debian.sh
. "$here/debian.sh"

# Of the packages that the Dockerfiles name now.
make_base() {
  local packages
  packages=$(sed -n 's/^ARG PACKAGES="\(.*\)"$/\1/p' "$here"/../../docker/*.Dockerfile | tr ' ' '\n' | sort -u)
  [[ $packages == "$(cat "$images/base.packages" 2> /dev/null)" ]] && return
  echo "install: $images/base" >&2
  rm -f "$images/base.packages"
  mmdebstrap --quiet --variant=essential --include="$(tr '\n' ',' <<< "$packages")" bookworm "$images/base.tar" \
    2> >(grep -v '^W: ' >&2)
  printf '%s\n' "$packages" > "$images/base.packages"
}

# What builds them: unpacked, since as a package it would bring a whole container engine along. The library that it needs is
# installed: it starts itself without an environment that would say where another is.
make_builder() {
  local work=$images/builder.part file
  printf 'libgpgme11\n' | install_packages
  [[ -e $images/builder ]] && return
  echo "install: $images/builder" >&2
  rm -rf "$work"
  mkdir -p "$work/deb"
  (cd "$work/deb" && apt-get -qq -o APT::Sandbox::User=root download buildah)
  for file in "$work"/deb/*.deb; do dpkg-deb -x "$file" "$work"; done
  rm -r "$work/deb"
  mv "$work" "$images/builder"
}

mkdir -p "$images"
exec 9> "$images/.lock"
flock 9
make_root bullseye bullseye libc6
make_root musl bookworm musl
make_root arm64 bookworm libc6 arm64
make_base
make_builder

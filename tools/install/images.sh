#!/usr/bin/env bash
# Makes what tests need of other images, in ${CROSSOVER_CACHE:-~/.cache/crossover}/images-1. `bullseye` (glibc 2.31),
# `musl` and `arm64` (for an emulator) are roots with the C libraries of images, in which tests run programs. `builder`
# builds the images of docker/. `base` is a small Debian with the packages that their Dockerfiles name; the images are
# built on it. It takes half a minute, once, and needs root.
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

# Unpacks buildah, which builds the images. As an installed package it would bring a whole container engine along. The
# library that it needs is installed: buildah starts itself again without an environment that would name another place
# for it.
make_builder() {
  local work=$images/builder.part file
  printf 'libgpgme11\n' | install_packages
  [[ -e $images/builder/.version ]] && return
  echo "install: $images/builder" >&2
  rm -rf "$work"
  mkdir -p "$work/deb"
  (cd "$work/deb" && apt-get -qq -o APT::Sandbox::User=root download buildah)
  for file in "$work"/deb/*.deb; do
    dpkg-deb -x "$file" "$work"
    dpkg-deb --field "$file" Version > "$work/.version"
  done
  rm -r "$work/deb"
  rm -rf "$images/builder"
  mv "$work" "$images/builder"
}

mkdir -p "$images"
exec 9> "$images/.lock"
flock 9
make_root bullseye bullseye libc6
make_root musl bookworm musl
make_root arm64 bookworm libc6 arm64
# Tests do not want the pinned packages of a release.
(cd "$here/../.." && python3 -B -m tools.packages base "$(dpkg --print-architecture)" "$images/base.tar")
make_builder

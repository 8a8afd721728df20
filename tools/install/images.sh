#!/usr/bin/env bash
# Makes roots with C libraries of images, for tests that run programs in them, in
# ${CROSSOVER_CACHE:-~/.cache/crossover}/images-1: `bullseye` (glibc 2.31), `musl` and `arm64` (for an
# emulator). Ten seconds, once.
set -euo pipefail

readonly images=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/images-1

make_root() {  # NAME SUITE PACKAGE [ARCHITECTURE]
  [[ -e $images/$1/.complete ]] && return
  echo "install: $images/$1 ($3 of $2)" >&2
  rm -rf "${images:?}/$1"
  mmdebstrap --quiet --variant=extract ${4:+--architectures="$4"} --include="$3" "$2" "$images/$1" 2> >(grep -v '^W: ' >&2)
  touch "$images/$1/.complete"
}

mkdir -p "$images"
exec 9> "$images/.lock"
flock 9
make_root bullseye bullseye libc6
make_root musl bookworm musl
make_root arm64 bookworm libc6 arm64

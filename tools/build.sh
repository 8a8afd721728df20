#!/usr/bin/env bash
# Configures and builds one preset, with little output unless something fails: tools/build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: tools/build.sh PRESET [TARGET...]}
shift
mkdir -p build
log=build/$preset.configure.log
if ! cmake --preset "$preset" > "$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
cmake --build --preset "$preset" ${1:+--target "$@"}

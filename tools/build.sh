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
# A run of figures compares this file with the sources (benchmarks/runner/built.py).
stamp=build/$preset/built_from
rm -f "$stamp"
cmake --build --preset "$preset" ${1:+--target "$@"}
case " $* " in
  *" all "*) git describe --always --dirty --abbrev=40 --exclude='*' > "$stamp" 2> /dev/null || rm -f "$stamp" ;;
esac

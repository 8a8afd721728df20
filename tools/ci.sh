#!/usr/bin/env bash
# Runs all that a change must pass. Every part runs even if an earlier one failed. The tests come last, so the output
# of a run that passed ends with ctest's own closing lines. Of each part that failed, the output ends with its last
# lines once more: a reader who sees the end alone learns why.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G}

failed=()
# A command runs in this shell, not in a pipe's: release() waits for a child of this shell.
part() {  # NAME COMMAND...
  local name=$1 begin=$SECONDS status=0 copying
  shift
  printf '\n== %s\n' "$name"
  exec 9> >(exec tee "build/ci/$name.log")
  copying=$!
  "$@" < /dev/null >&9 2>&1 9>&- || status=1
  exec 9>&-
  wait "$copying"
  if ((status == 0)); then
    printf '== %s: passed, %d s\n' "$name" $((SECONDS - begin))
  else
    printf '== %s: FAILED, %d s\n' "$name" $((SECONDS - begin))
    failed+=("$name")
  fi
}

# Downloads and builds the programs of other projects. It runs beside the first part, which leaves the network and now
# and then a core idle.
prepare() {
  tools/install.sh --torch && tools/install.sh --images && tools/install.sh --cluster && tools/install.sh --workflows &&
    tools/check_bare.sh --root
}
prepared() {
  wait "$preparing" && return
  cat build/prepare.log
  return 1
}
# Signatures and bills need programs that take a quarter of an hour to build, and programs for the other architecture take as
# long: `make test-matrix` makes them.
release() {
  prepared && IMAGES=localhost/crossover KEY=none BILLS=none ARCHITECTURES=amd64 PINS=newest tools/release.sh
}
sanitized() { tools/build.sh "$1" test_programs && tools/test.sh "$1"; }
gate() { tools/build.sh dev all crossover_portable && python3 -B -m benchmarks.gate --build build/dev; }
tests() {
  tools/install.sh --torch && tools/install.sh --images && tools/install.sh --cluster && tools/install.sh --workflows &&
    tools/build.sh dev all crossover_portable && tools/test.sh dev
}

tools/install.sh || exit 1
mkdir -p build/ci
prepare > build/prepare.log 2>&1 < /dev/null &
preparing=$!
part lint python3 -B tools/lint/run.py
part release release
part bare tools/check_bare.sh
FUZZ_KNOWN_SECONDS=3 part fuzz tools/fuzz.sh "${FUZZ_SECONDS:-6}"
part asan sanitized asan
part tsan sanitized tsan
part gate gate
part tests tests

# Prints what tells of failures in the log of a part, and its last lines. ctest's dots would fill what is kept of the output.
summary() {  # NAME
  printf '\n== failures of %s\n' "$1"
  sed 's/\.\.\.\.*/.../' "build/ci/$1.log" | cut -c 1-300 > "build/ci/$1.short"
  grep -E '\*\*\*|: Failure$|^(FAIL|ERROR):|^[A-Za-z.]*(Error|Failed|Exception): |^gate: |^Timeout | FOUND:$|^SUMMARY: |ERROR: libFuzzer|^  File .*/tests/.* in test_' "build/ci/$1.short" | tail -n 40
  printf '== the last lines of %s\n' "$1"
  tail -n 25 "build/ci/$1.short"
}

if ((${#failed[@]})); then
  for name in "${failed[@]}"; do summary "$name"; done
  printf '\nci: FAILED: %s\n' "${failed[*]}"
  exit 1
fi
echo "ci: passed in $SECONDS s"

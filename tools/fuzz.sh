#!/usr/bin/env bash
# Runs the fuzzers of tests/fuzz: tools/fuzz.sh SECONDS [NAME]; builds them first (preset fuzz).
# Exits 1 when one of them found something, after all have run; says how many inputs each tried.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-}
only=${2:-}
if [[ ! $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: tools/fuzz.sh SECONDS [NAME]; SECONDS is a whole number above 0" >&2
  exit 2
fi
corpora=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/fuzz

cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target fuzzers

run_fuzzer() {  # NAME
  local name=$1 log="build/fuzz/$1.log" corpus="$corpora/$1"
  local inputs=("$corpus")
  [[ ! -d tests/fuzz/seeds/$name ]] || inputs+=("tests/fuzz/seeds/$name")
  mkdir -p "$corpus" "build/fuzz/findings"
  if "build/fuzz/bin/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "${inputs[@]}" > "$log" 2>&1; then
    printf 'fuzz %-20s %s inputs, nothing found\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  else
    printf 'fuzz %-20s FOUND:\n' "$name"
    tail -n 40 "$log"
    return 1
  fi
}

status=0
found=0
for program in build/fuzz/bin/fuzz_*; do
  name=${program##*/fuzz_}
  [[ -x $program && -f tests/fuzz/fuzz_$name.cc ]] || continue
  [[ -z $only || $only == "$name" ]] || continue
  found=$((found + 1))
  run_fuzzer "$name" || status=1
done
if ((found == 0)); then
  echo "tools/fuzz.sh: tests/fuzz has no fuzzer${only:+ named $only}" >&2
  exit 2
fi
exit $status

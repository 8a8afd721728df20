#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz (preset fuzz) and runs them: tools/fuzz.sh SECONDS [NAME...]
# As many run at a time as there are cores. Exits 1 when one of them found something, after all have run.
#
#   FUZZ_KNOWN_SECONDS  seconds for a program that was fuzzed before, byte by byte the same, and found nothing: its
#                       corpus has what that run found. SECONDS if it is not set
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-}
if [[ ! $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: tools/fuzz.sh SECONDS [NAME...]; SECONDS is a whole number above 0" >&2
  exit 2
fi
shift
known_seconds=${FUZZ_KNOWN_SECONDS:-$seconds}
if [[ ! $known_seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "tools/fuzz.sh: FUZZ_KNOWN_SECONDS: expected a whole number above 0, got '$known_seconds'" >&2
  exit 2
fi
corpora=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/fuzz

run_fuzzer() {  # NAME
  local name=$1 log="build/fuzz/$1.log" corpus="$corpora/$1" fuzzed="$corpora/$1.fuzzed"
  local inputs=("$corpus") program time=$seconds
  program=$(sha256sum < "build/fuzz/bin/fuzz_$name")
  [[ ! -e $fuzzed || $(< "$fuzzed") != "$program" ]] || time=$known_seconds
  [[ ! -d tests/fuzz/seeds/$name ]] || inputs+=("tests/fuzz/seeds/$name")
  mkdir -p "$corpus" "build/fuzz/findings"
  if "build/fuzz/bin/fuzz_$name" -max_total_time="$time" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$name-" "${inputs[@]}" > "$log" 2>&1; then
    printf 'fuzz %-20s %s s, %s inputs, nothing found\n' "$name" "$time" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
    ((time < seconds)) || printf '%s\n' "$program" > "$fuzzed"
  else
    printf 'fuzz %-20s FOUND:\n' "$name"
    tail -n 40 "$log"
    return 1
  fi
}

names=("$@")
if ((${#names[@]} == 0)); then
  for source in tests/fuzz/fuzz_*.cc; do
    name=${source##*/fuzz_}
    names+=("${name%.cc}")
  done
fi
for name in "${names[@]}"; do
  if [[ ! -f tests/fuzz/fuzz_$name.cc ]]; then
    echo "tools/fuzz.sh: tests/fuzz has no fuzzer named $name" >&2
    exit 2
  fi
done

cmake --preset fuzz > /dev/null
cmake --build --preset fuzz --target fuzzers

status=0
running=0
for name in "${names[@]}"; do
  if ((running == $(nproc))); then
    wait -n || status=1
    running=$((running - 1))
  fi
  run_fuzzer "$name" &
  running=$((running + 1))
done
while ((running-- > 0)); do wait -n || status=1; done
exit $status

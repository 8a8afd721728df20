#!/usr/bin/env bash
# Lets two jobs of two ranks each share two software GPUs, with only a build of preset "gpu" and a shell:
#   tools/bare/two_jobs.sh BUILD_DIR
# First one job runs alone and without the library, then both run with it. All ranks must end well, with the losses of
# the run alone, and both jobs must have taken turns.
set -euo pipefail

build=$(cd "${1:?usage: tools/bare/two_jobs.sh BUILD_DIR}" && pwd)
work=$(mktemp -d -t crossover-two-jobs.XXXXXX)
readonly ranks=2 iterations=60

export SIMGPU_MACHINE=1x2,mode=mps,node_link_bytes_per_s=1e9
export SIMGPU_STATE=$work/state
export LD_LIBRARY_PATH=$build/simgpu/lib
export CROSSOVER_SOCKET=$work/arbiter.sock

daemon=
cleanup() {
  local status=$?
  [[ -z $daemon ]] || kill "$daemon" 2> /dev/null || true
  wait
  ((status == 0)) || tail -n 20 "$work"/*.log >&2 || true
  rm -rf "$work"
}
trap cleanup EXIT

start_rank() {  # JOB RANK PORT [NAME=value...]
  local job=$1 rank=$2 port=$3
  shift 3
  env "$@" RANK="$rank" LOCAL_RANK="$rank" WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT="$port" \
    "$build/bin/trainer" --iterations=$iterations --compute-ms=5 --log="$work/$job.$rank.jsonl" \
    > "$work/$job.$rank.log" 2>&1 &
  pids+=($!)
}

wait_all() {
  local pid
  for pid in "${pids[@]}"; do wait "$pid"; done
  pids=()
}

losses() { sed -n 's/.*"losses_digest": *"\([^"]*\)".*/\1/p' "$work/$1.0.jsonl"; }
events() { grep -c "\"gang\": *\"$1\".*\"event\": *\"hold\"" "$work/trace.jsonl" || true; }

declare -A port=([first]=29501 [second]=29502)
pids=()
for ((rank = 0; rank < ranks; ++rank)); do start_rank alone "$rank" 29500; done
wait_all

"$build/bin/crossover-arbiter" --socket "$CROSSOVER_SOCKET" --trace "$work/trace.jsonl" > "$work/arbiter.log" 2>&1 &
daemon=$!
until [[ -S $CROSSOVER_SOCKET ]]; do
  kill -0 "$daemon"
  read -rt 0.02 <> <(:) || true  # waits without starting a process
done

for job in first second; do
  for ((rank = 0; rank < ranks; ++rank)); do
    start_rank "$job" "$rank" "${port[$job]}" "LD_PRELOAD=$build/lib/libcrossover.so" \
      "CROSSOVER_GANG=$job" CROSSOVER_GANG_SIZE=$ranks
  done
done
wait_all
kill "$daemon"
wait "$daemon" || true
daemon=

for job in first second; do
  if [[ $(losses "$job") != "$(losses alone)" || -z $(losses alone) ]]; then
    echo "two jobs: losses of $job are '$(losses "$job")', alone '$(losses alone)'" >&2
    exit 1
  fi
  if (($(events "$job") < iterations / 2)); then
    echo "two jobs: $job took $(events "$job") turns in $iterations iterations of $ranks ranks" >&2
    exit 1
  fi
done
echo "two jobs: losses identical, turns taken: first $(events first), second $(events second)"

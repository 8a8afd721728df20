#!/usr/bin/env bash
# Runs inside the bare root (tools/check_bare.sh), at the top of a copy of the tree.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for absent in ninja python3 git ccache clang protoc; do
  if command -v "$absent" > /dev/null; then
    echo "bare: expected a root without $absent, got one that has it: this root shows nothing" >&2
    exit 1
  fi
done

cmake --preset gpu > configure.log 2>&1 || { cat configure.log; exit 1; }
cmake --build --preset gpu -j "$(nproc)" > build.log 2>&1 || { tail -n 60 build.log; exit 1; }
echo "bare: built"
exec bash tools/bare/two_jobs.sh build/gpu

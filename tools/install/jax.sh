#!/usr/bin/env bash
# Installs JAX for the software GPU, as far as it is missing, into ${CROSSOVER_CACHE:-~/.cache/crossover}/jax-1: the files
# that jax.txt names, 0.4 GB to fetch (wheels.sh says how). It takes a minute once, and is quick when nothing is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/install/wheels.sh
. "$here/wheels.sh"
make_environment JAX "$here/jax.txt" "${CROSSOVER_CACHE:-$HOME/.cache/crossover}/jax-1"

#!/usr/bin/env bash
# Installs PyTorch for the software GPU, as far as it is missing, into ${CROSSOVER_CACHE:-~/.cache/crossover}/torch-1:
# the files that torch.txt names, 0.6 GB to fetch and 1.4 GB on disk (wheels.sh says how). It takes a minute or two once,
# and is quick when nothing is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/install/wheels.sh
. "$here/wheels.sh"
make_environment PyTorch "$here/torch.txt" "${CROSSOVER_CACHE:-$HOME/.cache/crossover}/torch-1"

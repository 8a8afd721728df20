#!/usr/bin/env bash
# Installs frameworks over PyTorch for the software GPU, as far as they are missing, into
# ${CROSSOVER_CACHE:-~/.cache/crossover}/torch-frameworks-1: the files that torch_frameworks.txt names by their SHA-256
# (0.1 GB), and nothing that they depend on besides. PyTorch is that of torch.sh, which comes first; its folder stays as
# it is. DeepSpeed comes as source: its wheel is made without PyTorch in sight, so that it compiles nothing. The folder
# appears whole, or it does not appear. It takes a minute once; it is quick when nothing is missing, and safe to run twice at once.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly listed=$here/torch_frameworks.txt
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
# shellcheck source=tools/install/wheels.sh
. "$here/wheels.sh"

fill() {  # ENVIRONMENT
  local site
  install_files "$1" <(grep -v '^deepspeed==' "$listed") --only-binary :all:
  install_files "$1" <(grep '^deepspeed==' "$listed") --no-binary deepspeed --no-build-isolation
  site=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  printf '%s\n' "$cache/torch-1/lib/$(basename "$(dirname "$site")")/site-packages" > "$site/torch.pth"
}

"$here/torch.sh"
make_environment "frameworks over PyTorch" "$listed" "$cache/torch-frameworks-1" fill

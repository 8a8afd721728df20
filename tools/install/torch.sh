#!/usr/bin/env bash
# Installs PyTorch for the software GPU, as far as it is missing, into ${CROSSOVER_CACHE:-~/.cache/crossover}/torch-1:
# the files that torch.txt names by their SHA-256, and nothing that they depend on besides (0.6 GB to fetch, 1.4 GB on
# disk). The folder appears whole, or it does not appear. It takes a minute or two once; it is quick when nothing is missing,
# and safe to run twice at once.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly pins=${TORCH_PINS:-$here/torch.txt}
readonly root=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/torch-1
readonly fresh=$root.part
readonly stamp=.installed  # a copy of the pins

say() { printf 'install: %s\n' "$*" >&2; }

mkdir -p "$(dirname "$root")"
exec 9> "$root.lock"
flock 9
cmp -s "$pins" "$root/$stamp" && exit 0
say "installing PyTorch into $root"
rm -rf "$fresh"
python3 -m venv "$fresh"
"$fresh/bin/python" -m pip install -q --disable-pip-version-check --no-input --no-deps --only-binary :all: \
  --require-hashes --no-cache-dir --no-compile -r "$pins"
grep -lI "$fresh" "$fresh"/bin/* | xargs sed -i "s|$fresh|$root|g"  # programs name the folder of their interpreter
cp "$pins" "$fresh/$stamp"
rm -rf "$root"
mv "$fresh" "$root"

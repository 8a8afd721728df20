#!/usr/bin/env bash
# Installs frameworks over PyTorch for the software GPU, as far as they are missing, into
# ${CROSSOVER_CACHE:-~/.cache/crossover}/torch-frameworks-1: the files that torch_frameworks.txt names by their SHA-256
# (0.1 GB), and nothing that they depend on besides. PyTorch is that of torch.sh, which comes first; its folder stays as
# it is. DeepSpeed comes as source: its wheel is made without PyTorch in sight, so that it compiles nothing. The folder
# appears whole, or it does not appear. It takes a minute once; it is quick when nothing is missing, and safe to run twice at once.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly pins=$here/torch_frameworks.txt
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
readonly root=$cache/torch-frameworks-1
readonly fresh=$root.part
readonly stamp=.installed  # a copy of the pins

say() { printf 'install: %s\n' "$*" >&2; }

install_wheels() {  # FILE [OPTION...]
  "$fresh/bin/python" -m pip install -q --disable-pip-version-check --no-input --no-deps --require-hashes \
    --no-cache-dir --no-compile -r "$@"
}

"$here/torch.sh"
mkdir -p "$cache"
exec 9> "$root.lock"
flock 9
cmp -s "$pins" "$root/$stamp" && exit 0
say "installing frameworks over PyTorch into $root"
rm -rf "$fresh"
python3 -m venv "$fresh"
install_wheels <(grep -v '^deepspeed==' "$pins") --only-binary :all:
install_wheels <(grep '^deepspeed==' "$pins") --no-binary deepspeed --no-build-isolation
site=$("$fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$cache/torch-1/lib/$(basename "$(dirname "$site")")/site-packages" > "$site/torch.pth"
grep -lI "$fresh" "$fresh"/bin/* | xargs sed -i "s|$fresh|$root|g"  # programs name the folder of their interpreter
cp "$pins" "$fresh/$stamp"
rm -rf "$root"
mv "$fresh" "$root"

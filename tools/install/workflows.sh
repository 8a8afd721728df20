#!/usr/bin/env bash
# Installs what tests/workflows checks .github/workflows with, as far as it is missing, into
# ${CROSSOVER_CACHE:-~/.cache/crossover}, one folder per version: actionlint, built from its Go module as
# tools/install/actionlint-VERSION pins it, and zizmor, from the wheel that zizmor.txt names by its SHA-256. It takes
# some seconds once, and needs no root. It is quick when nothing is missing, and safe to run twice at once.
#
#   tools/install/workflows.sh           install
#   tools/install/workflows.sh --check   change nothing: exit 1 and say what is missing
#   tools/install/workflows.sh --pin     write actionlint's go.mod and go.sum into tools/install
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
readonly actionlint_default=1.7.12
readonly actionlint_module=github.com/rhysd/actionlint
readonly zizmor_pins=${ZIZMOR_PINS:-$here/zizmor.txt}

# shellcheck source=tools/install/debian.sh
. "$here/debian.sh"
# shellcheck source=tools/install/go_modules.sh
. "$here/go_modules.sh"

# Unpacks the wheel. It is one program, and needs no Python.
install_zizmor() {
  local version out work
  version=$(sed -n 's/^zizmor==\([0-9.]*\) .*/\1/p' "$zizmor_pins")
  out=$cache/zizmor-$version work=$cache/zizmor-$version.part
  if [[ $mode == --pin ]] || cmp -s "$zizmor_pins" "$out/.installed"; then return 0; fi
  if [[ $mode == --check ]]; then
    say "missing or outdated: $out (tools/install.sh --workflows makes it)"
    return 1
  fi
  say "installing zizmor $version into $out"
  rm -rf "$work" && quietly python3 -m venv "$work/venv" || return 1
  quietly "$work/venv/bin/python" -m pip install -q --disable-pip-version-check --no-input --no-deps \
    --only-binary :all: --require-hashes --no-cache-dir --no-compile --target "$work/wheel" -r "$zizmor_pins" ||
    return 1
  cp "$work/wheel/bin/zizmor" "$work/" && rm -r "$work/venv" "$work/wheel" && cp "$zizmor_pins" "$work/.installed" &&
    rm -rf "$out" && mv "$work" "$out"
}

take_mode "$@"
one_at_a_time workflows
status=0
build actionlint "$actionlint_default" "$actionlint_module" "-X $actionlint_module.version=$actionlint_default" \
  "$actionlint_module/cmd/actionlint" || status=1
install_zizmor || status=1
exit $status

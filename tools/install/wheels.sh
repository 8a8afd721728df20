# Holds the function by which installers make Python environments of pinned packages. It is sourced.
# shellcheck shell=bash

say() { printf 'install: %s\n' "$*" >&2; }

# install_files ENVIRONMENT FILE [OPTION...] installs the packages that FILE names by their SHA-256, and nothing that they
# depend on besides.
install_files() {
  "$1/bin/python" -m pip install -q --disable-pip-version-check --no-input --no-deps --require-hashes --no-cache-dir \
    --no-compile -r "${@:2}"
}

# make_environment WHAT PINS ROOT [FILL] makes the environment ROOT of the packages that PINS names, unless it was made
# from the same pins: wheels, or what the function FILL puts into an environment. ROOT appears whole, or it does not
# appear. It is safe to run twice at once.
make_environment() {
  local what=$1 pins=$2 root=$3 fresh=$3.part stamp=.installed  # a copy of the pins
  mkdir -p "$(dirname "$root")"
  exec 9> "$root.lock"
  flock 9
  cmp -s "$pins" "$root/$stamp" && return 0
  say "installing $what into $root"
  rm -rf "$fresh"
  python3 -m venv "$fresh"
  if [[ -n ${4:-} ]]; then "$4" "$fresh"; else install_files "$fresh" "$pins" --only-binary :all:; fi
  grep -lI "$fresh" "$fresh"/bin/* | xargs sed -i "s|$fresh|$root|g"  # programs name the folder of their interpreter
  cp "$pins" "$fresh/$stamp"
  rm -rf "$root"
  mv "$fresh" "$root"
}

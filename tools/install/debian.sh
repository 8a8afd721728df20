# Holds functions that the installers share. It is sourced. `mode` is the caller's first argument.
# shellcheck shell=bash disable=SC2154

say() { printf 'install: %s\n' "$*" >&2; }

missing_packages() {
  comm -23 <(sort) <(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' | sed -n 's/^ii *//p' | sort -u)
}

# Installs the Debian packages named on its input, one a line, that are missing. Without root, or with `mode` --check,
# it says which are missing and fails.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]})) || return 0
  if [[ $(id -u) != 0 || $mode == --check ]]; then
    say "missing Debian packages; as root: apt-get install --no-install-recommends ${missing[*]}"
    return 1
  fi
  say "apt-get install ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  local attempt
  for attempt in 1 2 3; do
    if apt-get -qq update && apt-get -qq install -y --no-install-recommends "${missing[@]}" > /dev/null; then
      return 0
    fi
    say "apt-get failed (attempt $attempt of 3)"
  done
  return 1
}

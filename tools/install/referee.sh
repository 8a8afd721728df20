#!/usr/bin/env bash
# Unpacks the packages of referee.txt into ${CROSSOVER_CACHE:-~/.cache/crossover}/referee-1, a folder each, as far as
# they are missing. Nothing is installed: apt works with a state of its own, which is removed afterwards, and the proxy
# and mirror settings of this machine's apt hold. If Debian has replaced a version, it takes the one that stands in
# its place in that suite, and says so. It fails if one cannot be had, after it has tried the others. It is quick
# when nothing is missing, and safe to run twice at once.
#
# It prints a line for each package that it has: package, version wanted, version taken, folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly pins=${REFEREE_PINS:-$here/referee.txt}
readonly archive=${REFEREE_ARCHIVE:-http://deb.debian.org/debian}
readonly root=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/referee-1
readonly keys=/usr/share/keyrings/debian-archive-keyring.gpg
readonly machine=amd64

say() { printf 'referee: %s\n' "$*" >&2; }

# apt_get STATE ARGUMENT... runs apt-get with a state of its own.
apt_get() {
  local state=$1
  shift
  apt-get -qq -o APT::Sandbox::User= -o APT::Architecture="$machine" -o APT::Architectures::="$machine" \
    -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null \
    -o Dir::Etc::preferencesparts=/dev/null -o Dir::State="$state" -o Dir::State::lists="$state/lists" \
    -o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" "$@"
}

# state_of SUITE prints the folder of apt's state for a suite, with its list of packages. It fails if that cannot be
# had.
state_of() {
  local state=$work/$1
  if [[ ! -e $state/sources.list ]]; then
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    touch "$state/status"
    printf 'deb [signed-by=%s arch=%s] %s %s non-free\n' "$keys" "$machine" "$archive" "$1" > "$state/sources.list"
    apt_get "$state" update > "$state/log" 2>&1 || touch "$state/failed"
  fi
  if [[ -e $state/failed ]]; then
    say "$1: expected a list of packages from $archive, got none: $(tail -n 1 "$state/log")"
    return 1
  fi
  printf '%s\n' "$state"
}

# fetch SUITE PACKAGE VERSION SHA256 prints the path of the package's file.
fetch() {
  local suite=$1 package=$2 version=$3 sum=$4 state file
  state=$(state_of "$suite") || return 1
  mkdir -p "$work/deb" && rm -f "$work/deb"/*
  if (cd "$work/deb" && apt_get "$state" download "$package=$version" > "$state/log" 2>&1); then
    file=$(echo "$work/deb"/*.deb)
    if [[ $(sha256sum "$file") != "$sum "* ]]; then
      say "$package $version is not what it was: its SHA-256 is another than $sum"
      return 1
    fi
  elif (cd "$work/deb" && apt_get "$state" download "$package" > "$state/log" 2>&1); then
    file=$(echo "$work/deb"/*.deb)
    say "$suite has replaced $package $version: $(dpkg-deb -f "$file" Version) stands in its place"
  else
    say "$package cannot be had: $suite has neither $version nor another: $(tail -n 1 "$state/log")"
    return 1
  fi
  printf '%s\n' "$file"
}

# take SUITE PACKAGE VERSION SHA256 unpacks a package unless it is there, and prints its line.
take() {
  local suite=$1 package=$2 version=$3 sum=$4 out=$root/$1-$2 file
  if [[ ! -e $out/.taken || $(head -n 1 "$out/.taken") != "$version $sum" ]]; then
    file=$(fetch "$suite" "$package" "$version" "$sum") || return 1
    rm -rf "$out" "$out.part" && mkdir -p "$out.part" && dpkg-deb -x "$file" "$out.part" || return 1
    printf '%s\n%s\n' "$version $sum" "$(dpkg-deb -f "$file" Version)" > "$out.part/.taken"
    mv "$out.part" "$out" || return 1
  fi
  printf '%s %s %s %s\n' "$package" "$version" "$(tail -n 1 "$out/.taken")" "$out"
}

for program in apt-get dpkg-deb flock; do
  command -v "$program" > /dev/null && continue
  say "this machine has no $program: NVIDIA's programs are taken from Debian's packages"
  exit 1
done
mkdir -p "$root"
exec 9> "$root.lock"
flock 9
work=$(mktemp -d)
readonly work
trap 'rm -rf "$work"' EXIT
status=0
while read -r suite package version sum rest; do
  [[ -n $suite && $suite != \#* ]] || continue
  if [[ -z $sum || -n $rest ]]; then
    say "$pins: '$suite $package $version $sum $rest': expected suite, package, version and SHA-256"
    exit 2
  fi
  take "$suite" "$package" "$version" "$sum" || status=1
done < "$pins"
exit $status

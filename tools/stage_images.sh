#!/usr/bin/env bash
# Puts what goes into the images of docker/ into a folder for each image:
# tools/stage_images.sh BUILD_DIR OUT [ARCHITECTURE]
# It replaces what an earlier run left there, and strips symbols for debuggers. ARCHITECTURE is that of BUILD_DIR: amd64,
# arm64, or this machine's by default.
set -euo pipefail

readonly usage='usage: tools/stage_images.sh BUILD_DIR OUT [ARCHITECTURE]'
readonly build=${1:?$usage} out=${2:?$usage}
# shellcheck source=tools/architectures.sh
. "$(dirname "${BASH_SOURCE[0]}")/architectures.sh"
readonly architecture=${3:-$(native_architecture)}

put() {  # IMAGE FILE PATH_IN_IMAGE
  if [[ ! -e $build/$2 ]]; then
    echo "stage_images: expected $build/$2, got none: run tools/build.sh PRESET all crossover_portable" >&2
    exit 1
  fi
  install -D -m 0755 -s --strip-program="$(strip_of "$architecture")" "$build/$2" "$out/$1$3"
}

rm -rf "${out:?}/extender" "${out:?}/deviceplugin"
put extender bin/crossover-extender /usr/bin/crossover-extender
put deviceplugin bin/crossover-deviceplugin /usr/bin/crossover-deviceplugin
put deviceplugin bin/crossover-signaller /usr/bin/crossover-signaller
put deviceplugin bin/crossover /usr/bin/crossover
for library in libcrossover.so libcrossover-shrink.so; do
  put deviceplugin "portable/$(machine_of "$architecture")/$library" "/usr/lib/crossover/$library"
done

#!/usr/bin/env bash
# Puts what goes into the images of docker/ into a folder for each image: tools/stage_images.sh BUILD_DIR OUT
# It replaces what an earlier run left there, and strips symbols for debuggers.
set -euo pipefail

readonly build=${1:?usage: tools/stage_images.sh BUILD_DIR OUT}
readonly out=${2:?usage: tools/stage_images.sh BUILD_DIR OUT}

put() {  # IMAGE FILE PATH_IN_IMAGE
  if [[ ! -e $build/$2 ]]; then
    echo "stage_images: $build/$2 is missing: tools/build.sh PRESET all crossover_portable makes it" >&2
    exit 1
  fi
  install -D -m 0755 -s "$build/$2" "$out/$1$3"
}

rm -rf "${out:?}/extender" "${out:?}/deviceplugin"
put extender bin/crossover-extender /usr/bin/crossover-extender
put deviceplugin bin/crossover-deviceplugin /usr/bin/crossover-deviceplugin
put deviceplugin bin/crossover-signaller /usr/bin/crossover-signaller
put deviceplugin bin/crossover /usr/bin/crossover
put deviceplugin "portable/$(uname -m)/libcrossover.so" /usr/lib/crossover/libcrossover.so

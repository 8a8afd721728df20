#!/usr/bin/env bash
# Builds the images of docker/ from a build, into a folder of buildah's storage:
# tools/build_images.sh BUILD_DIR REPOSITORY VERSION OUT [ARCHITECTURE]
# OUT/storage has the images then, and OUT/stage has what they contain beside their base. Files have the time of the
# last commit. ARCHITECTURE is that of BUILD_DIR and of BASE, by default this machine's. For another one it wants
# tools/emulate.py before it: programs of the image run while it is made.
#
#   BASE   the archive of a base system that has all packages which the Dockerfiles name; by default the one that
#          tools/install.sh --images makes of Debian's packages. Or an image, such as debian:12-slim: buildah pulls it
#          and installs the packages into it.
set -euo pipefail

readonly usage='usage: tools/build_images.sh BUILD_DIR REPOSITORY VERSION OUT [ARCHITECTURE]'
readonly build=${1:?$usage} repository=${2:?$usage} version=${3:?$usage} out=${4:?$usage}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly top
# shellcheck source=tools/architectures.sh
. "$top/tools/architectures.sh"
readonly architecture=${5:-$(native_architecture)}
readonly images=${CROSSOVER_CACHE:-$HOME/.cache/crossover}/images-1
readonly base=${BASE:-$images/base.tar}
epoch=$(git -C "$top" log -1 --format=%ct)
readonly epoch

export BUILDAH_ISOLATION=chroot XDG_RUNTIME_DIR=$out TMPDIR=$out
builder=$(PATH=$PATH:$images/builder/usr/bin command -v buildah) || {
  echo "build_images: expected buildah, got none: run tools/install.sh --images" >&2
  exit 1
}
readonly builder
buildah() { "$builder" --root "$out/storage" --runroot "$out/run" --storage-driver vfs "$@"; }
trusting() { buildah "$1" --signature-policy "$out/policy.json" "${@:2}"; }

mkdir -p "$out"
echo '{"default": [{"type": "insecureAcceptAnything"}]}' > "$out/policy.json"
"$top/tools/stage_images.sh" "$build" "$out/stage" "$architecture"

arguments=()
if [[ $base == */*.tar ]]; then
  if [[ ! -e $base ]]; then
    echo "build_images: expected $base, got none: run tools/install.sh --images" >&2
    exit 1
  fi
  container=$(buildah from --arch "$architecture" scratch)
  buildah add --quiet "$container" "$base" / > /dev/null
  trusting commit --quiet --rm --timestamp "$epoch" "$container" localhost/base:12 > /dev/null
  arguments=(--pull-never --build-arg BASE=localhost/base:12 --build-arg PACKAGES=)
else
  arguments=(--build-arg "BASE=$base")
fi
for name in extender deviceplugin; do
  trusting bud --quiet --arch "$architecture" --layers=false --timestamp "$epoch" "${arguments[@]}" \
    --file "$top/docker/$name.Dockerfile" --tag "$repository/crossover-$name:$version" "$out/stage/$name" > /dev/null
done

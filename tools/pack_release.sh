#!/usr/bin/env bash
# Packs a release of builds: tools/pack_release.sh REPOSITORY OUT ARCHITECTURE BUILD_DIR BASE...
# The last three words are given for each architecture: amd64 or arm64, the build for it, and the archive of the base
# system that images are built on (python3 -m tools.packages).
#
# OUT, which must not exist, gets:
# - the libraries for any Linux with glibc 2.17 or newer, for both architectures;
# - the command line for each architecture, for a C library as new as that of the base;
# - each image, as an archive with an index of its architectures;
# - the chart, which names the images of REPOSITORY by their digests; the documentation, with manifests/.
# The same builds give the same archives. Bills, checksums and signatures are made of OUT later: tools/trust.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly top
readonly usage='usage: tools/pack_release.sh REPOSITORY OUT ARCHITECTURE BUILD_DIR BASE...'
readonly repository=${1:?$usage}
out=$(realpath --canonicalize-missing "${2:?$usage}")
readonly out
shift 2
(($# >= 3 && $# % 3 == 0)) || {
  echo "$usage" >&2
  exit 2
}
# shellcheck source=tools/architectures.sh
. "$top/tools/architectures.sh"
architectures=() builds=() bases=()
while (($#)); do
  architectures+=("$1") builds+=("$(realpath "$2")") bases+=("$(realpath "$3")")
  shift 3
done
cd "$top"

version=$(sed -n 's/^project(crossover VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
epoch=$(git log -1 --format=%ct)
buildah=$(PATH=$PATH:${CROSSOVER_CACHE:-$HOME/.cache/crossover}/images-1/builder/usr/bin command -v buildah)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$out"

for machine in x86_64 aarch64; do
  name=crossover-$version-linux-$machine
  mkdir "$work/$name"
  for library in libcrossover.so libcrossover-shrink.so; do
    tools/check_symbols.sh "${builds[0]}/portable/$machine/$library"
    cp "${builds[0]}/portable/$machine/$library" "$work/$name/"
  done
  cp LICENSE README.md CHANGELOG.md "$work/$name/"
  tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u=rwX,go=rX \
    -c "$name" | gzip -n > "$out/$name.tar.gz"
done
tools/package_docs.sh "$out" "crossover-docs-$version" "$epoch"

for ((i = 0; i < ${#architectures[@]}; i++)); do
  architecture=${architectures[i]} build=${builds[i]} base=${bases[i]} images=$work/${architectures[i]}
  emulate=()
  [[ $architecture == "$(native_architecture)" ]] || emulate=(python3 -B tools/emulate.py)

  mkdir -p "$images/root"
  tar -C "$images/root" --wildcards -xf "$base" './usr/lib/*-linux-gnu/*.so*'
  tools/package_cli.sh "$build" "$out" "crossover-cli-$version-linux-$(machine_of "$architecture")" "$epoch" \
    "$architecture" "$images/root"

  BASE=$base "${emulate[@]}" tools/build_images.sh "$build" "$repository" "$version" "$images" "$architecture"
  for image in extender deviceplugin; do
    XDG_RUNTIME_DIR=$images TMPDIR=$images "$buildah" --root "$images/storage" --runroot "$images/run" \
      --storage-driver vfs push --quiet --signature-policy "$images/policy.json" "$repository/crossover-$image:$version" \
      "oci-archive:$work/$image-$architecture.tar:$repository/crossover-$image:$version"
  done
  rm -r "$images"
done
for image in extender deviceplugin; do
  python3 -B -m tools.trust index "$out/crossover-$image-$version.tar" "$work/$image"-*.tar
done
python3 -B -m tools.package_chart "$repository" "$out"

#!/usr/bin/env bash
# Packs a release of a build: tools/pack_release.sh BUILD_DIR REPOSITORY OUT
# OUT, which must not exist, gets:
# - the library for any Linux with glibc 2.17 or newer, per architecture;
# - the command line, for this machine's architecture and a C library as new as its own;
# - the images, for this machine's architecture, as archives that `skopeo copy` or `podman load` take to a registry;
# - the chart, which names the images of REPOSITORY; the documentation, with manifests/.
# The same sources give the same archives of library, chart and documentation. Bills, checksums and signatures are made
# of OUT later: tools/trust.
#
#   BASE   what the images are built on: tools/build_images.sh
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly top
readonly usage='usage: tools/pack_release.sh BUILD_DIR REPOSITORY OUT'
build=$(realpath "${1:?$usage}")
readonly build repository=${2:?$usage}
out=$(realpath --canonicalize-missing "${3:?$usage}")
readonly out
cd "$top"

version=$(sed -n 's/^project(crossover VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
epoch=$(git log -1 --format=%ct)

mkdir "$out"
python3 -B -m tools.package_chart "$repository" "$(uname -m)" "$out"

for architecture in x86_64 aarch64; do
  library=$build/portable/$architecture/libcrossover.so
  tools/check_symbols.sh "$library"
  name=crossover-$version-linux-$architecture
  mkdir "$out/$name"
  cp "$library" LICENSE README.md CHANGELOG.md "$out/$name/"
  tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u=rwX,go=rX \
    -c "$name" | gzip -n > "$out/$name.tar.gz"
  rm -r "${out:?}/$name"
done

tools/package_docs.sh "$out" "crossover-docs-$version" "$epoch"
tools/package_cli.sh "$build" "$out" "crossover-cli-$version-linux-$(uname -m)" "$epoch"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/build_images.sh "$build" "$repository" "$version" "$work"
buildah=$(PATH=$PATH:${CROSSOVER_CACHE:-$HOME/.cache/crossover}/images-1/builder/usr/bin command -v buildah)
for name in extender deviceplugin; do
  XDG_RUNTIME_DIR=$work TMPDIR=$work "$buildah" --root "$work/storage" --runroot "$work/run" --storage-driver vfs push --quiet \
    --signature-policy "$work/policy.json" "$repository/crossover-$name:$version" \
    "oci-archive:$work/$name.tar:$repository/crossover-$name:$version"
  python3 -B -m tools.trust settle "$work/$name.tar" "$out/crossover-$name-$version.tar"
done

#!/usr/bin/env bash
# Packs a release into dist/:
# - the library for any Linux with glibc 2.17 or newer, per architecture;
# - the command line, for this machine's architecture and a C library as new as its own;
# - the images, for this machine's architecture, as archives that `skopeo copy` or `podman load` take to a registry;
# - the chart, which names the images; the documentation, with manifests/; the checksums.
# The same sources give the same archives of library, chart and documentation.
#
#   IMAGES   the repository that the images will be in, such as registry.example/team
#   BASE     what the images are built on: tools/build_images.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ -z ${IMAGES:-} ]]; then
  echo "release: IMAGES is not set: the repository that the images will be in, such as make release IMAGES=registry.example/team" >&2
  exit 2
fi

version=$(sed -n 's/^project(crossover VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
epoch=$(git log -1 --format=%ct)

tools/build.sh release all crossover_portable
rm -rf dist
mkdir dist
python3 -B -m tools.package_chart "$IMAGES" "$(uname -m)" dist

for architecture in x86_64 aarch64; do
  library=build/release/portable/$architecture/libcrossover.so
  tools/check_symbols.sh "$library"
  name=crossover-$version-linux-$architecture
  mkdir "dist/$name"
  cp "$library" LICENSE README.md CHANGELOG.md "dist/$name/"
  tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u=rwX,go=rX \
    -c "$name" | gzip -n > "dist/$name.tar.gz"
  rm -r "dist/$name"
done

tools/package_docs.sh dist "crossover-docs-$version" "$epoch"
tools/package_cli.sh build/release dist "crossover-cli-$version-linux-$(uname -m)" "$epoch"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tools/build_images.sh build/release "$IMAGES" "$version" "$work"
buildah=$(PATH=$PATH:${CROSSOVER_CACHE:-$HOME/.cache/crossover}/images-1/builder/usr/bin command -v buildah)
for name in extender deviceplugin; do
  XDG_RUNTIME_DIR=$work TMPDIR=$work "$buildah" --root "$work/storage" --runroot "$work/run" --storage-driver vfs push --quiet \
    --signature-policy "$work/policy.json" "$IMAGES/crossover-$name:$version" \
    "oci-archive:dist/crossover-$name-$version.tar:$IMAGES/crossover-$name:$version"
done

(cd dist && sha256sum -- *.tar.gz *.tgz *.tar | tee SHA256SUMS)

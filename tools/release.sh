#!/usr/bin/env bash
# Packs the library for any Linux with glibc 2.17 or newer, per architecture, and the checksums, into dist/.
# The same sources give the same archives.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=$(sed -n 's/^project(crossover VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
epoch=$(git log -1 --format=%ct)

tools/build.sh release crossover_portable
rm -rf dist
mkdir dist
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
(cd dist && sha256sum -- *.tar.gz | tee SHA256SUMS)

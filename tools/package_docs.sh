#!/usr/bin/env bash
# Packs what users read and apply without a build, for users without the sources: tools/package_docs.sh OUT NAME EPOCH
# makes OUT/NAME.tar.gz, with the documentation and manifests/.
set -euo pipefail

readonly usage='usage: tools/package_docs.sh OUT NAME EPOCH'
readonly out=${1:?$usage} name=${2:?$usage} epoch=${3:?$usage}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly top

# The list has the files to which docs/, manifests/ and README.md link, too: tests/charts/test_package.py looks. What the
# other pages here link to may be missing.
git -C "$top" ls-files -z docs manifests '*/README.md' charts/crossover/values.yaml charts/crossover/files \
    benchmarks/results deviceplugin/config/standalone.yaml examples/pytorch proto/crossover_node.proto CHANGELOG.md \
    CONTRIBUTING.md LICENSE README.md RELEASING.md SECURITY.md |
  tar -C "$top" --null --files-from=- --transform="s,^,$name/," --owner=0 --group=0 --numeric-owner --mtime="@$epoch" \
    --mode=u=rwX,go=rX -c | gzip -n > "$out/$name.tar.gz"

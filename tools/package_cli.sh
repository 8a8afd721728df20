#!/usr/bin/env bash
# Packs the command line for users who have no image of it, such as users of kubectl:
# tools/package_cli.sh BUILD_DIR OUT NAME EPOCH makes OUT/NAME.tar.gz, with bin/kubectl-crossover, bin/crossover and the
# libraries that these need beside the C library. They run where the C library is at least as new as that of the machine
# that built them.
set -euo pipefail

readonly usage='usage: tools/package_cli.sh BUILD_DIR OUT NAME EPOCH'
readonly build=${1:?$usage} out=${2:?$usage} name=${3:?$usage} epoch=${4:?$usage}
readonly c_library='^(ld-linux|libc\.|libm\.|libdl\.|libpthread\.|librt\.|libresolv\.|linux-vdso)'
readonly program=$build/bin/crossover

if [[ ! -x $program ]]; then
  echo "package_cli: $program is missing: tools/build.sh PRESET crossover makes it" >&2
  exit 1
fi
readonly folder=$out/$name
rm -rf "$folder"
install -D -m 0755 -s "$program" "$folder/bin/crossover"
ln -s crossover "$folder/bin/kubectl-crossover"
# The program looks for its libraries there: BUILD_RPATH of cli/CMakeLists.txt.
mkdir -p "$folder/lib/crossover"
ldd "$program" | awk '$2 == "=>" { print $3 }' | while read -r library; do
  [[ $(basename "$library") =~ $c_library ]] || cp --dereference "$library" "$folder/lib/crossover/"
done
cp LICENSE README.md docs/kubectl.md "$folder/"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u=rwX,go=rX -c "$name" |
  gzip -n > "$out/$name.tar.gz"
rm -r "$folder"

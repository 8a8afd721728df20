#!/usr/bin/env bash
# Packs the command line for users who have no image of it, such as users of kubectl:
# tools/package_cli.sh BUILD_DIR OUT NAME EPOCH [ARCHITECTURE ROOT] makes OUT/NAME.tar.gz, with bin/kubectl-crossover,
# bin/crossover and the libraries that these need beside the C library. They run if the C library is at least as new
# as that of ROOT, from which the libraries are taken: a root of the build's architecture, by default this machine's own.
set -euo pipefail

readonly usage='usage: tools/package_cli.sh BUILD_DIR OUT NAME EPOCH [ARCHITECTURE ROOT]'
readonly build=${1:?$usage} out=${2:?$usage} name=${3:?$usage} epoch=${4:?$usage}
# shellcheck source=tools/architectures.sh
. "$(dirname "${BASH_SOURCE[0]}")/architectures.sh"
readonly architecture=${5:-$(native_architecture)} root=${6:-}
readonly c_library='^(ld-linux|libc\.|libm\.|libdl\.|libpthread\.|librt\.|libresolv\.)'
readonly program=$build/bin/crossover
libraries=$root/usr/lib/$(machine_of "$architecture")-linux-gnu
readonly libraries

if [[ ! -x $program ]]; then
  echo "package_cli: expected $program, got none: run tools/build.sh PRESET crossover" >&2
  exit 1
fi
readonly folder=$out/$name
rm -rf "$folder"
install -D -m 0755 -s --strip-program="$(strip_of "$architecture")" "$program" "$folder/bin/crossover"
ln -s crossover "$folder/bin/kubectl-crossover"

# Copy the libraries that the program needs, and those that these need. The program looks for them there: BUILD_RPATH of
# cli/CMakeLists.txt.
todo=("$program")
while ((${#todo[@]})); do
  of=${todo[0]} todo=("${todo[@]:1}")
  dynamic=$(readelf --dynamic "$of")
  needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<< "$dynamic")
  for library in $needed; do
    [[ ! $library =~ $c_library && ! -e $folder/lib/crossover/$library ]] || continue
    source=$libraries/$library
    if [[ ! -e $source ]]; then
      echo "package_cli: $of needs $library: expected $source, got none" >&2
      exit 1
    fi
    file=$(realpath "$source")
    install -D -m 0644 "$file" "$folder/lib/crossover/$library"
    todo+=("$source")
  done
done

cp LICENSE README.md docs/kubectl.md "$folder/"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" --mode=u=rwX,go=rX -c "$name" |
  gzip -n > "$out/$name.tar.gz"
rm -r "$folder"

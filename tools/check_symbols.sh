#!/usr/bin/env bash
# Checks that a shared library loads everywhere: tools/check_symbols.sh LIBRARY
# Prints its highest GLIBC version, what it NEEDs and how many symbols it exports. Exits 1 if a version is above
# 2.17, if it needs anything but libc.so.6 (an image may have nothing else), or exports a name that is not a hook.
set -euo pipefail

library=${1:?usage: tools/check_symbols.sh LIBRARY}
readonly newest=2.17
readonly libc='^libc\.so\.6$'
readonly hooks='^(cu[A-Z]|nccl|nvml|dlsym$|crossover_)'
[[ -r $library ]] || { echo "check_symbols: library: expected a file that can be read, got '$library'" >&2; exit 2; }

status=0
fault() {
  echo "check_symbols: $library: $*" >&2
  status=1
}

symbols=$(readelf -W --dyn-syms "$library" | awk '$1 ~ /^[0-9]+:$/ && $8 != "" {print $7, $8}')
versions=$(sed -n 's/^UND .*@\(.*\)/\1/p' <<< "$symbols" | sort -u)
highest=$(sed -n 's/^GLIBC_//p' <<< "$versions" | sort -V | tail -n 1)
[[ $(printf '%s\n' "${highest:-0}" "$newest" | sort -V | tail -n 1) == "$newest" ]] ||
  fault "symbols of glibc: expected up to GLIBC_$newest, got GLIBC_$highest"
foreign=$(grep -vE '^GLIBC_' <<< "$versions" | tr '\n' ' ' || true)
[[ -z ${foreign// /} ]] || fault "needs versions of another runtime: $foreign"

needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
extra=$(grep -vE "$libc" <<< "$needed" | tr '\n' ' ' || true)
[[ -z ${extra// /} ]] || fault "needs $extra"

exported=$(sed -n '/^\(UND\|ABS\) /d; s/^[^ ]* \([^@]*\).*/\1/p' <<< "$symbols")
strangers=$(grep -vE "$hooks" <<< "$exported" | head -n 5 | tr '\n' ' ' || true)
[[ -z ${strangers// /} ]] || fault "exports what is no hook: $strangers"

echo "$library: GLIBC_${highest:-none}, NEEDED $(tr '\n' ' ' <<< "$needed")exports $(wc -l <<< "$exported")"
exit $status

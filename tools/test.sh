#!/usr/bin/env bash
# Runs the tests of a preset that is already built: tools/test.sh dev|unit|asan|tsan [ctest options].
# Without root the tests that need namespaces are listed as not run, and the exit code is then not 0.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

preset=${1:?usage: tools/test.sh dev|unit|asan|tsan [ctest options]}
shift
# More tests run at once than there are cores. Tests that are not alone wait most of the time. Under a sanitizer this
# holds less: there no test starts a cluster.
slots=$((3 * $(nproc)))
[[ $preset != asan && $preset != tsan ]] || slots=$((2 * $(nproc)))
run=(ctest -j "$slots")
# The thread sanitizer of g++ 12 cannot place its shadow memory beside the widest address randomisation.
[[ $preset != tsan ]] || run=(setarch -R "${run[@]}")

not_run=()
if [[ $preset == dev && $(id -u) != 0 ]]; then
  preset=dev-user
  mapfile -t not_run < <(ctest --test-dir build/dev -N -L '^root$' | sed -n 's/^ *Test *#[0-9]*: //p')
fi

"${run[@]}" --preset "$preset" "$@"
status=$?

if ((${#not_run[@]})); then
  printf '\nNot run, because they need root (namespaces):\n'
  printf '  %s\n' "${not_run[@]}"
  ((status)) || status=3
fi
exit $status

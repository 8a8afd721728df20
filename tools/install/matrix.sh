#!/usr/bin/env bash
# Installs what `make test-matrix` runs on, as far as it is missing: every version of Kubernetes and containerd that has
# a folder here, the operators and the Descheduler of operators.sh, and the virtual machine of vm.sh. cluster.sh does the
# first. It writes into the cache, and installs Debian packages that are missing.
#
#   tools/install/matrix.sh           install: once some five minutes on two cores per Kubernetes, and for the operators
#   tools/install/matrix.sh --check   change nothing: exit 1 and say what is missing
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here

status=0
for folder in "$here"/kube-*/; do
  version=$(basename "$folder")
  KUBE_VERSION=${version#kube-} "$here/cluster.sh" "$@" || status=1
done
for folder in "$here"/containerd-*/; do
  version=$(basename "$folder")
  CONTAINERD_VERSION=${version#containerd-} "$here/cluster.sh" "$@" || status=1
done
"$here/operators.sh" "$@" || status=1
"$here/vm.sh" "$@" || status=1
exit $status

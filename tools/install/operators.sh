#!/usr/bin/env bash
# Installs the operators that tests/cluster/owners/test_recognition.py and test_operator_events.py run, the Descheduler
# of test_descheduler.py and the Karpenter of test_karpenter.py, as far as they are missing, into
# ${CROSSOVER_CACHE:-~/.cache/crossover}, one folder NAME-VERSION for each. It has the program, built from its Go module
# as tools/install/NAME-VERSION pins it. It also has manifests.yaml, which the operator's makers tell users to install:
# kubectl or Helm renders it from the files of the same module. cluster.sh must have run before. If one operator
# cannot be built, the others are still installed.
#
# Karpenter is run with its provider for KWOK's nodes. 1.14.1 is the newest version that the Go of go_modules.sh builds.
#
#   tools/install/operators.sh           install: some ten minutes on two cores
#   tools/install/operators.sh --check   change nothing: exit 1 and say what is missing
#   tools/install/operators.sh --pin     write their go.mod and go.sum into tools/install
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}

# Each entry has name, version, module, the program's package, the folder of the module that has the manifests, for
# kustomize or as a chart, and a folder with more definitions or none.
readonly operators=(
  "jobset 0.12.0 sigs.k8s.io/jobset . config/default"
  "lws 0.9.0 sigs.k8s.io/lws cmd config/default"
  "kueue 0.18.3 sigs.k8s.io/kueue cmd/kueue config/default"
  "mpi-operator 0.8.2 github.com/kubeflow/mpi-operator cmd/mpi-operator manifests/overlays/standalone"
  "training-operator 1.9.3 github.com/kubeflow/training-operator cmd/training-operator.v1 manifests/overlays/standalone"
  "kuberay 1.5.0 github.com/ray-project/kuberay/ray-operator . config/default"
  "descheduler 0.36.0 sigs.k8s.io/descheduler cmd/descheduler kubernetes/deployment"
  "karpenter 1.14.1 sigs.k8s.io/karpenter kwok kwok/charts kwok/apis/crds"
)

# shellcheck source=tools/install/debian.sh
. "$here/debian.sh"
# shellcheck source=tools/install/go_modules.sh
. "$here/go_modules.sh"

# manifests NAME FOLDER [DEFINITIONS] prints what the makers' files in a folder become, and the definitions of another.
manifests() {
  local kubectl helm file
  if [[ -e $2/Chart.yaml ]]; then
    helm=$(find "$cache"/helm-*/helm 2> /dev/null | tail -n 1)
    [[ -n $helm ]] || { say "no helm: tools/install.sh --cluster first"; return 1; }
    "$helm" template "$1" "$2" --namespace kube-system --include-crds || return 1
  else
    kubectl=$(find "$cache"/kube-*/kubectl 2> /dev/null | tail -n 1)
    [[ -n $kubectl ]] || { say "no kubectl: tools/install.sh --cluster first"; return 1; }
    "$kubectl" kustomize "$2" || return 1
  fi
  [[ -n ${3:-} ]] || return 0
  for file in "$3"/*.yaml; do
    printf -- '---\n' && cat "$file" || return 1
  done
}

# render NAME VERSION MODULE FOLDER [DEFINITIONS] writes manifests.yaml beside the program.
render() {
  local out=$cache/$1-$2 source
  [[ ! -s $out/manifests.yaml && $mode != --pin ]] || return 0
  if [[ $mode == --check ]]; then
    say "missing: $out/manifests.yaml (tools/install/${0##*/} makes it)"
    return 1
  fi
  find_go || return 1
  source=$(cd "$out" && go mod download -json "$3@v$2" | downloaded Dir)
  manifests "$1" "$source/$4" "${5:+$source/$5}" 2> "$out/manifests.log" > "$out/manifests.part" || {
    tail -n 5 "$out/manifests.log" >&2
    return 1
  }
  mv "$out/manifests.part" "$out/manifests.yaml"
}

take_mode "$@"
one_at_a_time cluster
status=0
for operator in "${operators[@]}"; do
  read -r name version module package folder definitions <<< "$operator"
  program=$module/$package
  build "$name" "$version" "$module" "" "${program%/.}" &&
    render "$name" "$version" "$module" "$folder" "$definitions" || status=1
done
exit $status

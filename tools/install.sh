#!/usr/bin/env bash
# Installs what the project is built and tested with, as far as it is missing:
#   - the Debian packages of tools/install/debian-12.txt (needs root; without root it says what is missing and exits 1);
#   - the Python packages of tools/install/cuda-13.0.txt, into ${CROSSOVER_CACHE:-~/.cache/crossover}/cuda-13.0.
# It is quick when nothing is missing, safe to run twice at once, and never writes into the checkout.
#
#   tools/install.sh           install
#   tools/install.sh --check   change nothing: exit 1 and say what is missing
#   tools/install.sh --cuda    the Python packages only, for a machine with a toolchain of its own
#   tools/install.sh --cluster what the tests in tests/cluster need besides: Kubernetes and containerd, built once
#   tools/install.sh --matrix  the other versions of Kubernetes and containerd that `make test-matrix` takes, and the
#                              virtual machine
#   tools/install.sh --frameworks  PyTorch, JAX and what else tests/frameworks runs
#   tools/install.sh --torch   PyTorch alone, for the software GPU, which `make test` runs
#   tools/install.sh --torch-frameworks  Accelerate, Lightning, Transformers, DeepSpeed and Megatron core beside it
#   tools/install.sh --jax     JAX alone, for the software GPU
#   tools/install.sh --horovod Horovod beside it, built from source: needs --cuda and the stand-ins of a build
#   tools/install.sh --images  C libraries of other images, for tests that run programs with them
#   tools/install.sh --workflows  what tests/workflows checks the public workflows with: actionlint and zizmor
#   tools/install.sh --release the same, and what a release is made with: a compiler for aarch64; syft and cosign, for
#                              bills and signatures
#   tools/install.sh --verify  cosign alone, with which a user verifies a release
#   tools/install.sh --referee NVIDIA's own driver library and MPS, unpacked, with which tests/referee compares ours
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly cuda_version=13.0
readonly cuda_pins=$here/install/cuda-$cuda_version.txt
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
readonly cuda_root=$cache/cuda-$cuda_version
readonly stamp=$cuda_root/.installed  # a copy of the pins, written last

# shellcheck source=tools/install/debian.sh
. "$here/install/debian.sh"

# mmdebstrap asks arch-test whether programs of another architecture run.
readonly release_packages=(arch-test g++-aarch64-linux-gnu)

listed_packages() { grep -v -e '^#' -e '^$' "$here/install/debian-12.txt"; }

require_debian_12() {
  local id=none
  # shellcheck source=/dev/null
  [[ -r /etc/os-release ]] && id=$(. /etc/os-release && echo "${ID:-}-${VERSION_ID:-}")
  [[ $id == debian-12 ]] && command -v dpkg-query > /dev/null && return
  say "this is $id, the package list is for debian-12: install the like of $here/install/debian-12.txt"
  say "and a CUDA toolkit yourself, or build the 'gpu' preset, which needs a C++ compiler, CMake and CUDA only"
  exit 1
}

install_cuda() {
  cmp -s "$cuda_pins" "$stamp" && return 0
  if [[ $mode == --check ]]; then
    say "missing or outdated: $cuda_root (tools/install.sh --cuda makes it, without root)"
    return 1
  fi
  mkdir -p "$cache" || return 1
  exec 9> "$cache/.install.lock"
  flock 9
  cmp -s "$cuda_pins" "$stamp" && return 0  # another run has installed it meanwhile
  say "installing CUDA $cuda_version headers and tools into $cuda_root"
  if ! "$cuda_root/bin/python" -c '' 2> /dev/null; then
    python3 -m venv --clear "$cuda_root" || return 1
  fi
  "$cuda_root/bin/python" -m pip install -q --disable-pip-version-check --no-input -r "$cuda_pins" &&
    cp "$cuda_pins" "$stamp"
}

mode=${1:-}
case $mode in
  "" | --check)
    require_debian_12
    status=0
    listed_packages | install_packages || status=1
    install_cuda || status=1
    exit $status
    ;;
  --cuda) install_cuda ;;
  --cluster) "$here/install/cluster.sh" ;;
  --matrix) "$here/install/matrix.sh" ;;
  --torch-frameworks) "$here/install/torch_frameworks.sh" ;;
  --images) "$here/install/images.sh" ;;
  --frameworks) "$here/install/frameworks.sh" ;;
  --torch) "$here/install/torch.sh" ;;
  --jax) "$here/install/jax.sh" ;;
  --horovod) "$here/install/horovod.sh" ;;
  --workflows) "$here/install/workflows.sh" ;;
  --release)
    printf '%s\n' "${release_packages[@]}" | install_packages && "$here/install/workflows.sh" && "$here/install/trust.sh"
    ;;
  --verify) "$here/install/trust.sh" --verify ;;
  --referee) "$here/install/referee.sh" ;;
  *)
    say "argument: expected none, --check, --cuda, --cluster, --matrix, --frameworks, --torch, --torch-frameworks," \
      "--jax, --horovod, --images, --workflows, --release, --verify or --referee, got '$mode'"
    exit 2
    ;;
esac

#!/usr/bin/env bash
# Builds the preset "gpu" on a system on which only a C++ compiler, CMake, make and the CUDA headers are installed and no network is
# reachable. Runs two jobs of it there (tools/bare/two_jobs.sh). Needs root. mmdebstrap makes the bare root once,
# outside the checkout. `tools/check_bare.sh --root` makes it and stops.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
readonly root=$cache/bare-debian-12
readonly packages=g++,cmake,make

make_root() {
  [[ -e $root/.complete ]] && return
  local sources=/etc/apt/sources.list.d/debian.sources
  [[ -e $sources ]] || sources=/etc/apt/sources.list
  echo "bare: making $root ($packages)"
  rm -rf "$root"
  mmdebstrap --quiet --variant=minbase --include="$packages" bookworm "$root" "$sources"
  touch "$root/.complete"
}

# Copies the files that git knows, with changes not yet committed: an untracked file that the build needs is a fault.
copy_tree() {  # TO
  mkdir -p "$1"
  git ls-files -z | while IFS= read -r -d '' f; do [[ ! -e $f ]] || printf '%s\0' "$f"; done |
    tar -c --null -T - | tar -x -C "$1"
}

inside() {  # runs in namespaces of its own; $scratch has the tree in src, and root to mount on
  mount --bind "$root" "$scratch/root"
  mount -o remount,bind,ro "$scratch/root"
  mount --bind "$scratch/src" "$scratch/root/srv"
  mount -t tmpfs tmpfs "$scratch/root/opt"
  mkdir "$scratch/root/opt/cuda"
  mount --bind -o ro "$cuda" "$scratch/root/opt/cuda"
  mount -t tmpfs tmpfs "$scratch/root/run"
  mount -t tmpfs tmpfs "$scratch/root/tmp"
  mount -t proc proc "$scratch/root/proc"
  mount --rbind /dev "$scratch/root/dev"
  mount -t tmpfs tmpfs "$scratch/root/dev/shm"
  ip link set lo up
  exec chroot "$scratch/root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp CUDA_HOME=/opt/cuda \
    /bin/bash /srv/tools/bare/build_and_run.sh
}

if [[ ${1:-} == --inside ]]; then
  scratch=$2
  cuda=$3
  inside
fi

[[ $(id -u) == 0 ]] || { echo "check_bare: user: expected root, got $(id -un)" >&2; exit 1; }
make_root
[[ ${1:-} != --root ]] || exit 0
cuda=$(compgen -G "$cache/cuda-*/lib/python3*/site-packages/nvidia/cu13" | tail -n 1) ||
  { echo "check_bare: $cache: expected CUDA headers, got none: run tools/install.sh" >&2; exit 1; }
scratch=$(mktemp -d -t crossover-bare.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/root"
copy_tree "$scratch/src"
unshare --mount --net --pid --ipc --uts --fork --kill-child --propagation private \
  "$PWD/tools/check_bare.sh" --inside "$scratch" "$cuda"

#!/usr/bin/env bash
# Builds Horovod from source over PyTorch for the software GPU, as far as it is missing, in
# ${CROSSOVER_CACHE:-~/.cache/crossover}/horovod-1: the files that horovod.txt names by their SHA-256 (0.2 GB). PyTorch is
# that of torch.sh, which comes first, CUDA's headers and nvcc are those of install.sh --cuda. Horovod's CMake imports
# PyTorch, so the stand-ins of BUILD (build/dev) must be there. Objects and the command that links them stay, so that
# testing/frameworks/horovod.py can link another NCCL. It takes minutes once, and is quick when nothing is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly pins=$here/horovod.txt
readonly cache=${CROSSOVER_CACHE:-$HOME/.cache/crossover}
readonly root=$cache/horovod-1
readonly nvidia=$root/nvidia source=$root/source objects=$root/objects
readonly stamp=$root/.installed  # a copy of the pins, written last
build=$(realpath "${BUILD:-$here/../../build/dev}")
readonly build
readonly stand_ins=$build/simgpu/stand_ins/lib

say() { printf 'install: %s\n' "$*" >&2; }

pip() {  # COMMAND [OPTION...]
  "$root/bin/python" -m pip "$1" -q --disable-pip-version-check --no-input --no-deps --require-hashes --no-cache-dir \
    "${@:2}"
}

# Fetches the packages. Those of NVIDIA lie where Python does not look for them.
fetch() {
  pip install --no-compile --only-binary :all: -r <(grep -v -e '^horovod==' -e '^nvidia-' "$pins")
  pip install --no-compile --only-binary :all: --target "$nvidia" -r <(grep '^nvidia-' "$pins")
  pip download --no-binary horovod --no-build-isolation -d "$root" -r <(grep '^horovod==' "$pins")
  mkdir "$source"
  tar -xf "$root"/horovod-*.tar.gz -C "$source" --strip-components 1
}

# Lays out a CUDA toolkit of links. nvcc and CMake look for lib64, and cuda_fp16.h for nv/target.
lay_cuda() {
  local packages
  packages=$(echo "$cache"/cuda-13.0/lib/python3*/site-packages/nvidia/cu13)
  cp -rs "$packages" "$root/cuda"
  ln -s lib "$root/cuda/lib64"
  ln -s libcudart.so.13 "$root/cuda/lib/libcudart.so"
  ln -s "$nvidia/nvidia/cu13/include/nv" "$root/cuda/include/nv"
}

# Compiles with Horovod's own CMake files. They ask for C++14, and PyTorch's headers for C++20. NVIDIA's static runtime
# uses calls of the driver that the software GPU refuses, so the runtime is shared, as PyTorch's is. No path is written
# into the library: NCCL and the runtime are those that the loader finds.
compile() {
  local site=$1
  echo 'set(CMAKE_CXX14_STANDARD_COMPILE_OPTION "-std=c++20")' > "$root/settings.cmake"
  cp -r "$source/horovod" "$site/horovod"
  export LD_LIBRARY_PATH=$stand_ins:$build/simgpu/lib SIMGPU_MACHINE=1x2
  export CUDA_HOME=$root/cuda HOROVOD_CUDA_HOME=$root/cuda CUDAToolkit_ROOT=$root/cuda
  export HOROVOD_WITH_PYTORCH=1 HOROVOD_WITHOUT_TENSORFLOW=1 HOROVOD_WITHOUT_MXNET=1 HOROVOD_WITHOUT_MPI=1
  export HOROVOD_GPU_OPERATIONS=NCCL HOROVOD_CPU_OPERATIONS=GLOO HOROVOD_NCCL_LINK=SHARED HOROVOD_BUILD_CUDA_CC_LIST=90
  cmake -S "$source" -B "$objects" -G "Unix Makefiles" -DCMAKE_BUILD_TYPE=Release -DCMAKE_SKIP_RPATH=ON \
    -DCMAKE_LIBRARY_OUTPUT_DIRECTORY_RELEASE="$site" -DPYTHON_EXECUTABLE="$root/bin/python" \
    -DCMAKE_PROJECT_horovod_INCLUDE="$root/settings.cmake" -DCMAKE_CUDA_ARCHITECTURES=90 \
    -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared -DNCCL_INCLUDE_DIR="$nvidia/nvidia/nccl/include" \
    -DNCCL_LIBRARY="$nvidia/nvidia/nccl/lib/libnccl.so.2"
  cmake --build "$objects" --target pytorch -- -j"${JOBS:-$(nproc)}"
}

"$here/torch.sh"
"$here/../install.sh" --cuda
mkdir -p "$cache"
exec 9> "$root.lock"
flock 9
cmp -s "$pins" "$stamp" && exit 0
if [[ ! -e $stand_ins/libcudart.so.13 ]]; then
  say "missing: $stand_ins/libcudart.so.13 (cmake --build $build --target simgpu_stand_ins makes it)"
  exit 1
fi
say "building Horovod in $root; what the compilers say is in $root/build.log"
rm -rf "$root"
python3 -m venv "$root"
site=$("$root/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
printf '%s\n' "$cache/torch-1/lib/$(basename "$(dirname "$site")")/site-packages" > "$site/torch.pth"
fetch
lay_cuda
compile "$site" > "$root/build.log" 2>&1 || {
  say "Horovod does not compile: $(grep -m 1 -i 'error' "$root/build.log")"
  exit 1
}
cp "$pins" "$stamp"

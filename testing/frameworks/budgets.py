"""Runs a program of PyTorch that fills the memory of its GPU: on a GPU of some size, or with a budget of that size on a
larger GPU. A job must not be able to tell the two apart."""

import json
import subprocess
import tempfile

from testing.frameworks import software_gpu as gpu

# PyTorch's allocators, by the words that choose them.
ALLOCATORS = {"caching": "", "expandable_segments": "expandable_segments:True", "cuda_malloc_async":
              "backend:cudaMallocAsync"}
PAGE_MIB = 2  # what PyTorch and the driver give out at least
_GPU_MIB = 80 * 1024


def on_a_gpu_of(mib, allocator, build=gpu.BUILT):
    """Returns what the program says, flat, on a GPU of that size without the library."""
    return _run(allocator, build, mib, {})


def with_a_budget_of(mib, allocator, build=gpu.BUILT):
    """Returns what it says under the library with a budget of that size."""
    return _run(allocator, build, _GPU_MIB, {"LD_PRELOAD": str(build.native_library), "CROSSOVER_GANG": "job",
                                             "CROSSOVER_GPU_MEMORY": f"{mib}Mi"})


def differences(said, expected):
    """Returns in words what the program says otherwise than expected."""
    return [f"{what}: expected {expected.get(what)!r}, got {said.get(what)!r}" for what in sorted({*said, *expected})
            if said.get(what) != expected.get(what)]


def _run(allocator, build, mib, more):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        machine = gpu.Machine(directory, build=build, memory_mib=mib)
        environment = machine.environment | {"PYTORCH_ALLOC_CONF": ALLOCATORS[allocator]} | more
        done = subprocess.run([gpu.PYTHON, gpu.JOBS / "memory.py"], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=gpu.PATIENCE_S, check=False)
    if done.returncode != 0:
        raise AssertionError(f"memory.py with {allocator} ended with {done.returncode}: {done.stderr}")
    return dict(_flat(json.loads(done.stdout)))


def _flat(said, before=""):
    for key, value in said.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value

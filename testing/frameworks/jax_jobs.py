"""Runs programs of unmodified JAX on the software GPU, each process with one GPU or one process with all.

JAX asks for NVIDIA's device files before it loads its plugin for CUDA, and its compiler needs NVIDIA's ptxas and
libdevice. The programs see a /dev that has such a file beside the machine's own, in a mount namespace. ptxas and
libdevice are those with which the project is built."""

import os
import sys
from pathlib import Path

from testing.frameworks import software_gpu as gpu
from testing.frameworks.patterns import Needs
from testing.ports import free_port

PYTHON = gpu.PYTHONS[Needs.JAX]
_CUDA = gpu.CACHE.parent / "cuda-13.0" / gpu.SITE.relative_to(gpu.CACHE) / "nvidia" / "cu13"
# Autotuning chooses a kernel by its time, so that two runs would launch different ones.
_FLAGS = f"--xla_gpu_cuda_data_dir={_CUDA} --xla_gpu_autotune_level=0 --xla_gpu_enable_command_buffer="
ENVIRONMENT = (("JAX_PLATFORMS", "cuda"), ("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "1"), ("XLA_FLAGS", _FLAGS),
               ("XLA_PYTHON_CLIENT_PREALLOCATE", "false"))
ONE_PROCESS = "--one-process"
_LAUNCHER = Path(__file__).with_name("launch_jax.py")


def processes(gpus, options=()):
    """Returns the command line, but for the script, that runs a script with a process for each GPU, or with
    ONE_PROCESS among the options one for all."""
    count = 1 if ONE_PROCESS in options else gpus
    user = () if os.geteuid() == 0 else ("--map-root-user",)
    return ["unshare", *user, "--mount", sys.executable, "-B", _LAUNCHER, str(count), str(free_port()), PYTHON]

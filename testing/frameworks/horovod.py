"""Knows the Horovod that tools/install/horovod.sh builds: with the NCCL that the loader finds, or with one linked into
its library, as Horovod does by default."""

import shlex
import shutil
import subprocess
import sys

from testing.frameworks import software_gpu as gpu

_ROOT = gpu.CACHE.parent / "horovod-1"
PYTHON = _ROOT / "bin" / "python"
PACKAGE = _ROOT / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages" / "horovod"
_LINK = _ROOT / "objects" / "horovod" / "torch"  # where its command to link runs
_INSTALLED = _ROOT / ".installed"
# The software GPU's NCCL and what it is made of, below simgpu/ of a build.
_ARCHIVES = ("nccl/libsimgpu_nccl_archive.a", "nccl/libsimgpu_nccl_core.a", "kernels/libsimgpu_kernels.a",
             "machine/libsimgpu_machine.a", "model/libsimgpu_model.a")


def require(test):
    """Fails the test, with a hint, if something was not built or installed."""
    gpu.require(test)
    if not _INSTALLED.exists():
        test.fail(f"no {_INSTALLED}: tools/install.sh --horovod")


def horovodrun(gpus, options=()):
    """Returns the command line, but for the script, that runs a script with a rank for each GPU of this machine."""
    return [PYTHON, "-m", "horovod.runner.launch", "-np", gpus, "--gloo", *options, PYTHON]


def link_nccl(directory, build=gpu.BUILT):
    """Writes the package with the software GPU's NCCL linked in into a directory, which then goes first in PYTHONPATH.
    It is linked as Horovod links it, with NCCL's calls hidden. Only the function by which the software GPU's kernels
    begin has to be seen. Raises subprocess.CalledProcessError."""
    package, archive, script = directory / "horovod", directory / "libnccl_static.a", directory / "horovod.lds"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("*.so"))
    parts = [build.top / "simgpu" / name for name in _ARCHIVES]
    commands = [f"create {archive}", *(f"addlib {part}" for part in parts), "save", "end"]
    subprocess.run(["ar", "-M"], input="\n".join(commands) + "\n", text=True, check=True)
    exported = (_ROOT / "source" / "horovod.lds").read_text(encoding="utf-8")
    script.write_text(exported.replace("local:", "simgpuNcclKernelBegin; local:"), encoding="utf-8")
    words = shlex.split((_LINK / "CMakeFiles/pytorch.dir/link.txt").read_text(encoding="utf-8"))
    changed = {"libnccl.so.2": str(archive), "horovod.lds": f"-Wl,--version-script={script}"}
    words = [next((word for end, word in changed.items() if old.endswith(end)), old) for old in words]
    words[words.index("-o") + 1] = str(package / "torch" / next(PACKAGE.glob("torch/*.so")).name)
    subprocess.run(words, cwd=_LINK, check=True)

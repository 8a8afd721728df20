"""Tells which PyTorch and which NCCL a machine has, and makes jobs of PyTorch's scripts. Where the other ranks have no
GPU, the stand-in for NCCL is preloaded: PyTorch's own RPATH would find NVIDIA's NCCL before any LD_LIBRARY_PATH.
"""

import json
import subprocess
from pathlib import Path

from benchmarks.gpu import children, crew
from benchmarks.gpu.children import Cannot

SCRIPTS = Path(__file__).parent / "pytorch"
_TELL = """
import json, os, torch
import torch.distributed
maps = open("/proc/self/maps", encoding="utf-8").read().split("\\n")
nccl = sorted({line.split()[-1] for line in maps if "/libnccl" in line})
print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "file": os.path.dirname(torch.__file__),
                  "gpu": torch.cuda.is_available(), "nccl": nccl}))
"""


def versions(rig):
    """Returns what PyTorch says of itself. Raises Cannot where there is none."""
    try:
        return children.answer([rig.python, "-c", _TELL], rig.environment(), 120)
    except Cannot as reason:
        if "No module named 'torch'" in str(reason):
            raise Cannot(f"{rig.python} has no PyTorch") from reason
        raise


def describe(rig):
    """Returns the same in words, whatever there is."""
    try:
        return json.dumps(versions(rig))
    except Cannot as reason:
        return f"cannot be used: {reason}"


def need(rig):
    """Checks that PyTorch runs with the stand-in in NCCL's place. Raises Cannot, with the reason, where it does not
    load."""
    found = versions(rig)
    if rig.software:
        raise Cannot("PyTorch computes on real GPUs alone: the CUDA runtime does not work on the software GPU")
    if not found["gpu"]:
        raise Cannot(f"PyTorch {found['torch']} sees no GPU")
    _check_symbols(rig, Path(found["file"]) / "lib" / "libtorch_cuda.so")


def nccl_folder(found):
    """Returns the folder of NVIDIA's libnccl.so.2: the one that this PyTorch has loaded, else one beside it. `found` is
    what versions() says. Raises Cannot where there is none."""
    loaded = [Path(path) for path in found["nccl"] if Path(path).name == "libnccl.so.2"]
    beside = sorted((Path(found["file"]).parent / "nvidia").glob("*/lib/libnccl.so.2"))
    for path in (*loaded, *beside):
        if path.exists():
            return path.parent
    raise Cannot(f"no libnccl.so.2: PyTorch {found['torch']} has loaded none, and there is none beside it")


def _check_symbols(rig, library):
    """Raises Cannot where the stand-in lacks a symbol. PyTorch is loaded with all symbols bound, so a missing one would
    keep it from loading."""
    def of(file, *flags):
        done = subprocess.run(["nm", "-D", *flags, str(file)], capture_output=True, text=True, check=False)
        return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if " nccl" in line}
    missing = of(library, "--undefined-only") - of(rig.stand_in() / "libnccl.so.2", "--defined-only")
    if missing:
        raise Cannot(f"the stand-in for NCCL lacks what this PyTorch is linked against: {', '.join(sorted(missing))}")


def script(name, *arguments):
    """Returns a function that makes the command of a script of this folder, as rank 0 of two."""
    return lambda rig: [rig.python, "-B", SCRIPTS / "with_peers.py", SCRIPTS / f"{name}.py", *arguments]


def shape(name, *arguments, environment=None):
    return crew.Shape("_".join(str(word) for word in (name, *arguments)), script(name, *arguments), environment, True)



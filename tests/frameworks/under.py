"""Runs programs as they are, and under the shipped library."""

import os
import platform
import re
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD") or TOP / "build" / "dev")
LIBRARY = BUILD / "portable" / platform.machine() / "libcrossover.so"
SOFTWARE_GPU = BUILD / "simgpu" / "lib"
CACHE = Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover") / "frameworks-1"
PYTHON = CACHE / "bin" / "python"
SITE = CACHE / "lib" / "python3.11" / "site-packages"
PROGRAMS = TOP / "testing" / "frameworks" / "programs"
_PATIENCE_S = 300


def environment(preloaded, **more):
    """Returns a small environment. With `preloaded` the library is active: it may take part, and would report that it
    finds no arbiter."""
    small = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1",
             "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
    if preloaded:
        small |= {"LD_PRELOAD": str(LIBRARY), "CROSSOVER_GANG": "frameworks", "CROSSOVER_GANG_SIZE": "2",
                  "CROSSOVER_SOCKET": "/nonexistent/arbiter.sock"}
    return small | more


def run(command, preloaded, **more):
    """Runs a command. Returns (status, standard output, standard error)."""
    done = subprocess.run([str(word) for word in command], env=environment(preloaded, **more), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    return done.returncode, done.stdout, done.stderr


def assert_unharmed(test, command, **more):
    """Asserts that a command ends well, and that its output is the same with the library. Returns its standard
    output."""
    plain, hooked = run(command, False, **more), run(command, True, **more)
    test.assertEqual(plain[0], 0, plain[2])
    test.assertEqual(hooked, plain)
    return plain[1]


def hooked_symbols():
    """Returns the driver's functions that the library wraps."""
    table = (TOP / "sidecar/hooks/cuda_hooks.def").read_text(encoding="utf-8")
    return re.findall(r"^CUDA_HOOK\((\w+),", table, re.MULTILINE)


def program(name, *arguments):
    """Returns the command line of one of programs/."""
    return [PYTHON, "-B", PROGRAMS / name, *arguments]


def require(test):
    """Fails the test, with a hint, if something was not built or installed."""
    for needed, how in ((LIBRARY, "build crossover_portable"), (PYTHON, "tools/install.sh --frameworks")):
        if not needed.exists():
            test.fail(f"no {needed}: {how}")

"""so_symbols checks that libcrossover.so loads anywhere: it needs symbols of GLIBC_2.17 at most, and only libc's own
libraries.

Control: the same sources from the distribution's compiler.
"""

import re
import subprocess

from benchmarks.runner.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = ("x86_64", "aarch64")
NEWEST = (2, 17)
# These are glibc and the libraries that it is split into.
ALLOWED = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
           "ld-linux-aarch64.so.1"}


def measure(context, case):
    faults = _faults_of(context, context.build.portable_library(case))
    control = _faults_of(context, context.build.native_library)
    value = None if faults is None else len(faults)
    yield Measured("so_symbols", case, value, "symbols and libraries too many", GOAL, (value,),
                   controlled(GOAL, "the distribution's compiler", None if control is None else len(control)),
                   f"libcrossover.so for {case}", {"faults": faults})


def _faults_of(context, library):
    if not library.exists():
        context.fail(f"{library} is not built")
        return None
    return faults(_readelf("--dyn-syms", library), _readelf("--dynamic", library))


def faults(symbols, dynamic):
    """Returns what keeps a library from loading on an old system: versions of symbols and libraries, from readelf's
    texts."""
    found = set()
    for version in re.findall(r"@{1,2}(GLIBC_[0-9.]+|GLIBCXX_[0-9.]+|CXXABI_[0-9.]+|GCC_[0-9.]+)", symbols):
        family, number = version.split("_")
        if family != "GLIBC" or tuple(map(int, number.split("."))) > NEWEST:
            found.add(version)
    for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if library not in ALLOWED:
            found.add(library)
    return sorted(found)


def _readelf(what, library):
    return subprocess.run(["readelf", "--wide", what, str(library)], capture_output=True, text=True, check=True).stdout

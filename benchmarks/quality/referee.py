"""referee counts the rows and answers of ours that differ from those of NVIDIA's own binaries and are not in the list
of wanted differences (testing/referee): hook table, look-ups with and without the library, the software GPU's answers,
the symbols that we bind, the stand-in for MPS.

A case is a binary by its package and the major version that tools/install/referee.txt pins. Where Debian has replaced
it, the line says which version stood in its place.

Controls: one row of the table with another version; a library that wraps nothing; one command of the stand-in that is
answered otherwise.
"""

from pathlib import Path

from benchmarks.runner.results import Goal, Measured, controlled
from testing.processes import Failed
from testing.referee import binaries, compare, planted, tables

GOAL = Goal("==", 0)
SCOPE = "component"
GPUS = "no GPUs"
_PINS = Path(__file__).resolve().parents[2] / "tools" / "install" / "referee.txt"


def _pinned():
    """Returns {case: (package, version)} of the list of NVIDIA's packages."""
    rows = [line.split() for line in _PINS.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return {f"{package}_{version.split('.')[0]}": (package, version) for _, package, version, _ in rows}


CASES = tuple(_pinned())


def measure(context, case):
    package, asked = _pinned()[case]
    found, complaints = binaries.find()
    binary = next((b for b in found if (b.package, b.asked) == (package, asked)), None)
    if binary is None:
        raise Failed(f"{package} {asked} cannot be had: {complaints}")
    verdict = compare.compare(binary, context.build)
    what, seen = _CONTROLS[package](binary, context.build)
    context.say(f"    {binary}: {verdict.compared} compared, {verdict.listed} listed, {len(verdict.differing)} differ; "
                f"control: {seen}")
    yield Measured("referee", case, len(verdict.differing), "rows and answers", GOAL, (verdict.compared,),
                   controlled(GOAL, what, seen), f"{binary}, {verdict.compared} rows and answers compared",
                   {"binary": str(binary), "compared": verdict.compared, "listed": verdict.listed,
                    "differing": verdict.differing[:20]})


def _other_version(binary, build):
    return ("one row's version is another",
            len(planted.with_other_version(binary, build, "cuLaunchKernelEx_ptsz", 10).differing))


def _unwrapped(binary, build):
    return ("a library that wraps nothing",
            len(planted.unwrapped(binary, build, "libnvidia-ml.so.1", tables.nvml_hooks())[0]))


def _another_answer(binary, build):
    return "one command is answered otherwise", len(planted.with_another_answer(binary, build).differing)


_CONTROLS = {"libcuda1": _other_version, "libnvidia-ml1": _unwrapped, "nvidia-cuda-mps": _another_answer}

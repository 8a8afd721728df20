"""framework_time: processor time of a training on the CPU with the preloaded library over that without, by the real
frameworks; framework_time_wall_beside: the time that it takes.

Control: a preload whose thread works for a tenth of the time.
"""

import os
import resource
import subprocess
import time
from pathlib import Path

from benchmarks import stats
from benchmarks.processes import Failed
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("<=", 1.02)
SCOPE = "component"
CASES = ("torch", "jax")
_PYTHON = Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover") / "frameworks-1/bin/python"
_PROGRAMS = Path(__file__).resolve().parents[2] / "tests" / "frameworks" / "programs"
_PAIRS = 7


def measure(context, case):
    if not _PYTHON.exists():
        context.say(f"    no {_PYTHON}: tools/install.sh --frameworks")
        yield Measured("framework_time", case, None, "of that without the library", GOAL, ())
        return
    command = [_PYTHON, "-B", _PROGRAMS / f"train_{case}.py", "--long"]
    _run(command, None)  # files are read for the first time
    pairs = [(_run(command, context.build.library), _run(command, None)) for _ in range(_PAIRS)]
    busy = _run(command, context.build.top / "lib" / "libbusy_preload.so")
    plain = stats.median([without[0] for _, without in pairs])
    ratios = tuple(hooked[0] / without[0] for hooked, without in pairs)
    condition = f"on the CPU: no GPU, no arbiter; {_PAIRS} trainings each way by turns; {plain:.2f} s without"
    yield Measured("framework_time", case, stats.median(ratios), "of that without the library", GOAL, ratios,
                   controlled(GOAL, "a preload whose thread works for a tenth of the time", busy[0] / plain), condition)
    wall = tuple(hooked[1] / without[1] for hooked, without in pairs)
    yield Measured("framework_time_wall_beside", case, stats.median(wall), "of that without the library", Goal(), wall,
                   None, condition)


def _run(command, library):
    """(processor time, time) in s."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "CROSSOVER_GANG": "frameworks",
                   "CROSSOVER_SOCKET": "/nonexistent/arbiter.sock"}
    if library:
        environment["LD_PRELOAD"] = str(library)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{command[2]} ended with {done.returncode}: {done.stderr[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - began

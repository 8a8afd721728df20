"""hook_ns: an un-gated launch through the hook minus the direct call, empty callee.

That the hot path takes no lock, allocates nothing and makes no system call is shown by counting and by a filter that
ends the process at any system call. Control: a library whose hooks take a mutex and call getpid.
"""

import os

from benchmarks import pairs, programs
from benchmarks.processes import Failed
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("<=", 5)
CLEAN = Goal("==", 0)
CONTROL = "slow_hooks"
SCOPE = "component"
CASES = ("launch",)


def measure(context, case):
    seen = []
    value, samples = pairs.median_of(context, lambda: _hook_ns(context, context.build.library, seen))
    bad = []
    control = _hook_ns(context, context.build.known_bad(CONTROL), bad)
    what = "every hook takes a mutex and calls getpid"
    yield Measured("hook_ns", case, value, "ns", GOAL, samples, controlled(GOAL, what, control),
                   "un-gated cuLaunchKernel of a preloaded library, empty driver", {"runs": seen})
    unclean = [_unclean(run) for run in seen]
    yield Measured("hook_ns_unclean", case, max(unclean, default=None), "locks, allocations and system calls", CLEAN,
                   tuple(unclean), controlled(CLEAN, what, max(map(_unclean, bad), default=None)),
                   "the same launches, counted; 1 for any number of system calls")


def _unclean(run):
    return run["allocations"] + run["locks"] + int(run["system_calls"])


def _hook_ns(context, library, seen):
    if not library.exists():
        context.voids.append(f"{library.name} is not built")
        return None
    environment = {**os.environ, "LD_PRELOAD": str(library), "CROSSOVER_SOCKET": "/nonexistent"}
    environment.pop("LD_LIBRARY_PATH", None)
    try:
        run = programs.json_lines([context.build.program("hook_ns")], environment)[0]
    except Failed as failure:
        context.voids.append(str(failure))
        return None
    seen.append(run)
    return run["hook_ns"]

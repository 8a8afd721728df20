"""idle_process is the time that the preloaded library adds to a short process that has nothing to do with GPUs.

Control: a preload that loads gRPC.
"""

import os

from benchmarks.runner.results import Goal, Measured, controlled
from testing import programs

GOAL = Goal("<=", 0.3)
SCOPE = "component"
CASES = ("true",)
_PROCESSES, _OF_THE_CONTROL = 10_000, 200


def measure(context, case):
    seen = _run(context.build.library, context, _PROCESSES)
    heavy = _run(context.build.top / "lib" / "libheavy_preload.so", context, _OF_THE_CONTROL)
    yield Measured("idle_process", case, seen["added_ms"], "ms for each process", GOAL, (seen["added_ms"],),
                   controlled(GOAL, "a preload that brings gRPC along", heavy["added_ms"]),
                   f"{seen['processes']} runs of /bin/{case} with the library and as many without, in alternating "
                   "blocks", {"runs": [seen]})


def _run(library, context, count):
    environment = {**os.environ, "CROSSOVER_SOCKET": "/run/crossover/arbiter.sock", "CROSSOVER_GANG": "idle"}
    environment.pop("LD_LIBRARY_PATH", None)
    command = [context.build.program("idle_process"), count, library]
    return programs.json_lines(command, environment, timeout_s=600)[0]

"""Runs the program that launches kernels through the library's hooks (benchmarks/hook_ns), in each state that the
library tells apart, and says how many instructions a launch may take there."""

import os
import tempfile
from pathlib import Path

from testing import pairs, programs
from testing.processes import Failed

# If the compiler copies the arguments on the stack, the copy is twenty of the instructions.
_INACTIVE, _ACTIVE, _GATED = 40, 65, 65
MOST_INSTRUCTIONS = {"inactive": _INACTIVE, "unheard": _ACTIVE, "no_nccl": _ACTIVE, "linked_unused": _ACTIVE,
                     "linked": _ACTIVE, "loaded": _INACTIVE, "gated_linked": _GATED, "gated": _GATED}
STATES = tuple(MOST_INSTRUCTIONS)


def within(state, instructions):
    """Returns whether a launch may take so many instructions in a state; False if they could not be counted."""
    return instructions is not None and instructions <= MOST_INSTRUCTIONS[state]


def worst_instructions(run):
    """Returns the most instructions of all launches of the table, for the median kernel, or None on a processor that
    cannot count them."""
    counts = [entry["instructions"] for entry in run["entries"].values()]
    return None if None in counts else max(counts)


def run_state(build, library, state, *arguments):
    """Returns what the measuring program reports of a state. Raises Failed if the library is not built or the
    program does not reach the state."""
    if not library.exists():
        raise Failed(f"{library} is not built")
    with tempfile.TemporaryDirectory(prefix=f"{pairs.MARK}-") as directory:
        environment = {**os.environ, "LD_PRELOAD": str(library),
                       "CROSSOVER_SOCKET": str(Path(directory) / "arbiter.sock"),
                       "LD_LIBRARY_PATH": str(build.top / "empty_cuda")}
        for name in ("CROSSOVER_GANG", "CROSSOVER_DISABLE"):
            environment.pop(name, None)
        if state != "inactive":
            environment["CROSSOVER_GANG"] = "hook-ns"
        return programs.json_lines([build.program("hook_ns"), state, *arguments], environment)[0]

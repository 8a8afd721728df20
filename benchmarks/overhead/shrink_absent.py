"""shrink_absent counts what jobs notice of libcrossover-shrink.so that did not ask for it, or whose ranks do not agree.
`symbols`: symbols of libcrossover.so whose name says shrink. `calls`: collectives, with their types and counts, numbers
of kernels and of bytes that differ, between a job without the file and one that has it loaded: without the owner's
word, with `off`, with `advise`, with `auto` where calls pass by choice or for lack of one, and with bf16 and every vote
refused. `advise` launches kernels that measure errors: as many as its report says, so these do not count, and one more
or fewer would.

Controls: the symbols of libcrossover-shrink.so itself; a job that is narrowed.
"""

import subprocess

from benchmarks.runner.results import Goal, Measured, controlled
from testing.shrink import calls

SCOPE = "component"
GPUS = "software GPUs"
CASES = ("symbols", "calls")
_GOAL = Goal("==", 0)


def measure(context, case):
    yield from {"symbols": _symbols, "calls": _calls}[case](context)


def _named(library):
    """Returns how many symbols of a library say shrink, those that it does not export included. NCCL's own
    ncclCommShrink does not."""
    said = subprocess.run(["nm", "-C", str(library)], check=True, capture_output=True, text=True).stdout
    return sum("shrink" in line for line in said.splitlines())


def _symbols(context):
    library = context.build.native_library
    value = _named(library)
    yield Measured("shrink_absent", "symbols", value, "symbols", _GOAL, (value,),
                   controlled(_GOAL, "libcrossover-shrink.so", _named(context.build.shrink_library)),
                   "libcrossover.so, not stripped", {"bytes": library.stat().st_size}, {"kind": "program"})


def _calls(context):
    without = calls.of_job(context.build, calls.WITHOUT)
    differing = {name: calls.differences(without, calls.of_job(context.build, settings))
                 for name, settings in calls.UNCHANGED.items()}
    value = sum(len(lines) for lines in differing.values())
    narrowed = len(calls.differences(without, calls.of_job(context.build, calls.NARROWED)))
    context.say(f"    {sum(map(len, without.values()))} calls: {differing}; narrowed: {narrowed}")
    yield Measured("shrink_absent", "calls", value, "calls of the collectives that differ", _GOAL, (value,),
                   controlled(_GOAL, "a job that is narrowed", narrowed),
                   "a job of 2 ranks with all-reduces of several types and sizes, in and outside groups and graphs",
                   {"calls": {rank: len(lines) for rank, lines in without.items()}, "differing": differing},
                   {"kind": "program"})

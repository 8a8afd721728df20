"""torch_identical counts how the calls of unmodified PyTorch differ with the library from those of the same job alone,
by the rows of testing/frameworks/patterns.py: launches of kernels and collectives, and waits of streams, of each rank,
in their order, and the peak of memory. A row runs alone, with the library and no other job, and beside another job. One
that takes turns where its row says that it is watched, or the other way round, counts as a difference.

Controls: a job that launches one kernel more; a wait that is removed from what was recorded, or a launch where the
program makes no wait that counts.
"""

from benchmarks.frameworks import frameworks
from benchmarks.runner.results import Goal, Measured, controlled
from testing.frameworks import ways
from testing.frameworks.patterns import PATTERNS, named
from testing.frameworks.records import count

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = tuple(pattern.name for pattern in PATTERNS)


def measure(context, case):
    pattern = named(case)
    with frameworks.required(context.build, pattern.needs):
        ran = ways.run(pattern, context.build)
    alone, beside = ran[ways.ALONE], ran[ways.BESIDE]
    found = ways.differences(pattern, ran) + ways.surprises(pattern, ran)
    for text in found:
        context.say(f"    {text}")
    calls = [count(alone.calls(rank)) for rank in pattern.ranks]
    removed, shorter = beside.without_one()
    controls = (controlled(GOAL, "one kernel more", len(ways.differing(ran[ways.MORE], alone))),
                controlled(GOAL, f"{removed} removed", len(ways.differing(shorter, alone))))
    yield Measured("torch_identical", case, len(found), "differences", GOAL, (len(found),), controls,
                   f"{' '.join(pattern.arguments) or 'no options'}; {pattern.steps} steps of "
                   f"{'two ranks' if len(pattern.ranks) == 2 else 'one process with two GPUs'}; "
                   f"{pattern.expected.value}: {' | '.join(beside.reasons) or 'no reason is logged'}",
                   {"calls": calls, "turns": [beside.turns, ran[ways.MORE].turns], "differences": found[:20]})

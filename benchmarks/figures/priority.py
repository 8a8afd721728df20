"""priority: by how much a job of high priority is slower beside one of low priority than alone; priority_wait: the
longest wait of the low one.

Private links: what two jobs take from each other on a shared one is no matter of turns. Control: the same jobs without
priorities.
"""

from dataclasses import replace

from benchmarks import stats, unequal
from benchmarks.results import Goal, Measured, controlled
from benchmarks.unequal import Group, Shape

GOAL = Goal("<=", 0.02)
_WAIT = Goal("<=", 1000)
_HIGH = Shape(20, 20, priority="high")
_BY_CASE = {"beside_40_8": (_HIGH, Shape(40, 8, priority="low")),
            # Kernels of half a millisecond.
            "beside_500_50": (_HIGH, Shape(500, 50, accumulation=16, priority="low"))}
CASES = tuple(_BY_CASE)


def measure(context, case):
    group = Group(_BY_CASE[case], links="private")
    runs = []
    for number in range(context.runs):
        runs.append(_one(context, group))
        context.say(f"    run {number + 1} of {context.runs}: {runs[-1]}")
        if runs[-1] is None:
            break
    equal = replace(group, shapes=tuple(replace(s, priority="") for s in group.shapes))
    bad = None if None in runs else _one(context, equal)
    slowdowns = tuple(r and r["slowdown"] for r in runs)
    waits = tuple(r and r["low_waits_ms"] for r in runs)
    void = None in runs
    yield Measured("priority", case, None if void else stats.median(slowdowns), "of its step alone", GOAL, slowdowns,
                   controlled(GOAL, "without priorities", bad and bad["slowdown"]), group.condition(), {"runs": runs})
    yield Measured("priority_wait", case, None if void else max(waits), "ms", _WAIT, waits, None, group.condition())


def _one(context, group):
    solos = unequal.alone(context, group)
    shared = solos and unequal.together(context, group, context.build.library)
    if not shared:
        return None
    return {"slowdown": shared.cycles_ms[0] / solos[0].step_ms - 1, "low_waits_ms": shared.longest_waits_ms[1],
            "low_slowdown": shared.cycles_ms[1] / solos[1].step_ms - 1}

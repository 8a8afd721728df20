"""fair: what each of two unequal jobs gets of its fluid max-min share; fair_whole_turns: the same without a quantum,
against what whole turns can give.

The value is that of the job that fares worse. Control: release after the collective.
"""

from benchmarks import unequal
from benchmarks.results import Goal, Measured, controlled
from benchmarks.unequal import Group, Shape

GOAL = Goal(">=", 0.90)
GOAL_WHOLE_TURNS = Goal(">=", 0.97)
CONTROL = "late_release"
_PAIRS = {"10_10_and_40_8": (Shape(10, 10), Shape(40, 8)),
          "20_4_and_5_20": (Shape(20, 4), Shape(5, 20)),
          "500_50_and_20_20": (Shape(500, 50, accumulation=16), Shape(20, 20))}  # kernels of half a millisecond
_WHOLE = "whole_turns_"
CASES = (*_PAIRS, *(_WHOLE + name for name in _PAIRS))


def measure(context, case):
    whole = case.startswith(_WHOLE)
    group = Group(_PAIRS[case.removeprefix(_WHOLE)])
    goal = GOAL_WHOLE_TURNS if whole else GOAL
    settings = ("quantum_us: off",) if whole else ()
    values, notes = [], []
    for number in range(context.runs):
        values.append(_one(context, group, context.build.library, settings, whole, notes))
        context.say(f"    run {number + 1} of {context.runs}: {values[-1]}")
        if values[-1] is None:
            break
    value = None if None in values else sorted(values)[len(values) // 2]
    bad = _one(context, group, context.build.known_bad(CONTROL), settings, whole, [])
    yield Measured("fair_whole_turns" if whole else "fair", case.removeprefix(_WHOLE), value,
                   "of its share, the worse off", goal, tuple(values),
                   controlled(goal, "release after the collective", bad), group.condition(), {"runs": notes})


def _one(context, group, library, settings, whole, notes):
    solos = unequal.alone(context, group)
    shared = solos and unequal.together(context, group, library, settings)
    if not shared:
        return None
    cycles = shared.cycles_ms
    shapes = unequal.measured(solos)
    got = unequal.rates(solos, cycles)
    due = unequal.whole_turns(shapes, group.links) if whole else [unequal.fluid_rate(shapes)] * len(shapes)
    notes.append({"rate": got, "due": due, "cycle_ms": cycles, "alone_ms": [s.step_ms for s in solos]})
    return min(g / d for g, d in zip(got, due))

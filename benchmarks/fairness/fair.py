"""fair is what each of two unequal jobs gets of its fluid max-min share. fair_whole_turns is the same without a
quantum, against what whole turns can give.

The value is that of the job that fares worse, at the median. Control, against the shipped library, both without the
guard: release after the collective.
"""

from benchmarks.fairness import unequal
from benchmarks.fairness.unequal import Group, Shape
from benchmarks.runner.results import Goal, Measured
from testing import pairs

GOAL = Goal(">=", 0.90, "median", runs=5)
GOAL_WHOLE_TURNS = Goal(">=", 0.97, "median", runs=5)
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
    notes = []
    value, values = pairs.measured_by(context, goal,
                                      lambda: _one(context, group, context.build.library, settings, whole, notes))
    control = None
    if value is not None:
        control = context.controlled(goal, "release after the collective", CONTROL,
                                     lambda library: _one(context, group, library, settings, whole, []))
    yield Measured("fair_whole_turns" if whole else "fair", case.removeprefix(_WHOLE), value,
                   "of its share, the worse off", goal, values, control, group.condition(), {"runs": notes},
                   group.conditions(quantum="off" if whole else "on"))


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

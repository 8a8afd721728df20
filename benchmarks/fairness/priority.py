"""priority tells by how much a job of high priority is slower beside one of low priority than alone. priority_wait is
the longest wait of the low one.

Links are private: turns do not control what two jobs take from each other on a shared one. Controls: the same jobs
without priorities; for the wait, against the shipped library, both without the guard, a library that gives each turn
back 60 ms late.
"""

from dataclasses import replace

from benchmarks.fairness import unequal
from benchmarks.fairness.unequal import Group, Shape
from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns import eta

GOAL = Goal("<=", 0.02, "median", runs=5)
_WAIT = Goal("<=", 60, "worst", runs=5)
_LATE_MS = 60
_HIGH = Shape(20, 20, priority="high")
_BY_CASE = {"beside_40_8": (_HIGH, Shape(40, 8, priority="low")),
            # Its kernels take half a millisecond.
            "beside_500_50": (_HIGH, Shape(500, 50, accumulation=16, priority="low"))}
CASES = tuple(_BY_CASE)


def measure(context, case):
    group = Group(_BY_CASE[case], links="private")
    runs = []
    for number in range(max(GOAL.runs, context.runs)):
        run = _one(context, group)
        context.say(f"    run {number + 1}: {run}")
        if run is None:
            break
        runs.append(run)
    else:
        equal = replace(group, shapes=tuple(replace(s, priority="") for s in group.shapes))
        bad = _one(context, equal)
        yield _line("priority", case, group, GOAL, "slowdown", runs, controlled(GOAL, "without priorities",
                                                                                bad and bad["slowdown"]))
        late = context.controlled(_WAIT, f"each turn is given back {_LATE_MS} ms late", eta.LATE_BY,
                                  lambda library: _waits_ms(context, group, library))
        yield _line("priority_wait", case, group, _WAIT, "low_waits_ms", runs, late)
        return
    yield _line("priority", case, group, GOAL, "slowdown", [*runs, None])


def _line(figure, case, group, goal, what, runs, control=None):
    samples = tuple(run and run[what] for run in runs)
    unit = {"slowdown": "of its step alone", "low_waits_ms": "ms"}[what]
    return Measured(figure, case, goal.of(samples), unit, goal, samples, control, group.condition(), {"runs": runs},
                    group.conditions())


def _waits_ms(context, group, library):
    """Returns the longest wait of the job of low priority, in ms."""
    shared = unequal.together(context, group, library, environment={"CROSSOVER_TEST_LATE_US": f"{_LATE_MS}000"})
    return shared and shared.longest_waits_ms[1]


def _one(context, group):
    solos = unequal.alone(context, group)
    shared = solos and unequal.together(context, group, context.build.library)
    if not shared:
        return None
    return {"slowdown": shared.cycles_ms[0] / solos[0].step_ms - 1, "low_waits_ms": shared.longest_waits_ms[1],
            "low_slowdown": shared.cycles_ms[1] / solos[1].step_ms - 1}

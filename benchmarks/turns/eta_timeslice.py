"""eta_timeslice checks that turns do not cost in time-slicing mode. It is a floor against one job after the other, so
the worst run counts. All of a run counts.

Control, against the shipped library, both without the guard: each turn is given back 5 ms late.
"""

from benchmarks.runner.results import Goal, Measured
from benchmarks.turns import eta
from testing import pairs

GOAL = Goal(">=", 0.97, "worst", runs=10)
_RATIOS = (0.2, 0.6, 1.0)
_VARIANTS = ("plain", "broadcast_buffers", "loss_allreduce")
_BY_CASE = {f"{v}_{r:g}": pairs.Shape(r, v, mode="timeslice", iterations=75, warm_up=15, alone=60,
                                     counted_from=0)
            for v in _VARIANTS for r in _RATIOS}
CASES = tuple(_BY_CASE)
_LATE_US = 5000


def measure(context, case):
    shape = _BY_CASE[case]

    def one(library):
        if not context.has(library):
            return None
        alone = pairs.solo(context, shape)
        both = alone and pairs.together(context, shape, library,
                                        environment={"CROSSOVER_TEST_LATE_US": str(_LATE_US)})
        # Any bound serves: only the gain over back-to-back is used.
        return pairs.rate(shape, both, alone[0], 1.0).gain if both else None

    value, samples = pairs.measured_by(context, GOAL, lambda: one(context.build.library))
    control = None
    if value is not None:
        control = context.controlled(GOAL, f"each turn is given back {_LATE_US / 1e3:g} ms late", eta.LATE_BY, one)
    yield Measured("eta_timeslice", case, value, "x back-to-back", GOAL, samples, control, shape.condition(), {},
                   shape.conditions())

"""eta_timeslice: in time-slicing mode, turns must not cost: a floor against one job after the other. No control."""

from benchmarks import pairs
from benchmarks.results import Goal, Measured

GOAL = Goal(">=", 0.98)
_RATIOS = (0.2, 0.6, 1.0)
_VARIANTS = ("plain", "broadcast_buffers", "loss_allreduce")
_BY_CASE = {f"{v}_{r:g}": pairs.Shape(r, v, mode="timeslice") for v in _VARIANTS for r in _RATIOS}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]

    def one():
        alone = pairs.solo(context, shape)
        both = alone and pairs.together(context, shape, context.build.library)
        # Any bound serves: only the gain over back-to-back is used.
        return pairs.rate(shape, both, alone[0], 1.0).gain if both else None

    value, samples = pairs.median_of(context, one)
    yield Measured("eta_timeslice", case, value, "x back-to-back", GOAL, samples, None, shape.condition())

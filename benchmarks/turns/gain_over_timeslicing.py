"""gain_over_timeslicing is the gain of Crossover in mps mode over free-running time-slicing. Control: ungated in mps
mode, against the shipped library, both without the guard.
"""

from dataclasses import replace

from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns.gain_over_mps import cycle_ms
from testing import pairs

_LIMITS = {0.3: 1.20, 0.6: None, 1.0: None}
_BY_CASE = {f"{ratio:g}": pairs.Shape(ratio, ranks=8, jitter=0.05, iterations=80) for ratio in _LIMITS}
CASES = tuple(_BY_CASE)
_RUNS = 5


def measure(context, case):
    shape = _BY_CASE[case]
    goal = Goal(">=", _LIMITS[shape.ratio], "worst", runs=_RUNS)
    draws = iter(pairs.offsets(max(context.runs, _RUNS) + 1, 2 * shape.compute_ms / 1e3))

    def one(offset, libraries):
        """Returns the gains of `libraries` over the same free run."""
        free = cycle_ms(context, replace(shape, mode="timeslice"), None, offset)
        cycles = [free and cycle_ms(context, shape, library, offset) for library in libraries]
        return [free / cycle if cycle else None for cycle in cycles]

    value, samples = pairs.measured_by(context, goal, lambda: one(next(draws), [context.build.library])[0])
    control = None
    if goal.limit is not None and value is not None:
        with context.without_guard():
            free, shipped = one(next(draws), [None, context.build.library])
        control = controlled(goal, "no library: free-running mps over free-running time-slicing", free, shipped)
    yield Measured("gain_over_timeslicing", case, value, "x", goal, samples, control, shape.condition(), {},
                   shape.conditions(baseline="free-running time-slicing"))

"""gain_over_timeslicing: Crossover in mps mode over free-running time-slicing. Control: ungated in mps mode."""

from dataclasses import replace

from benchmarks import pairs
from benchmarks.figures.gain_over_mps import cycle_ms
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal(">=", 1.12)
CASES = ("0.3",)
_SHAPE = pairs.Shape(0.3, ranks=8, jitter=0.05)


def measure(context, case):
    draws = iter(pairs.offsets(context.runs + 1, 2 * _SHAPE.compute_ms / 1e3))

    def one(library):
        offset = next(draws)
        free = cycle_ms(context, replace(_SHAPE, mode="timeslice"), None, offset)
        ours = free and cycle_ms(context, _SHAPE, library, offset)
        return free / ours if ours else None

    value, samples = pairs.median_of(context, lambda: one(context.build.library))
    control = controlled(GOAL, "no library: free-running mps over free-running time-slicing", one(None))
    yield Measured("gain_over_timeslicing", case, value, "x", GOAL, samples, control, _SHAPE.condition())

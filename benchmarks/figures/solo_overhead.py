"""solo_overhead: what a job alone pays for the library, c = 20 ms. Control: a wrapper with a mutex and a getpid.

Launches hide behind the GPU here, so the control costs nothing that this figure could see: it passes, and the figure
does not count by itself. What a launch pays is `hook_ns`, where the same control misses by far. A launch-bound job
shows the control only in principle: each launch wakes a stream's thread, which moves its step by a tenth from run to
run, and the control by a fiftieth.
"""

from benchmarks import pairs, stats
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("<=", 0.005)
CONTROL = "slow_hooks"
_BY_CASE = {"c20": pairs.Shape(0.6, iterations=150),
            "launch_bound": pairs.Shape(6.0, compute_ms=0.2, ranks=2, iterations=1500, warm_up=100, queue_depth=8)}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    beside = case != "c20"
    value, samples = pairs.median_of(context, lambda: _overhead(context, shape, context.build.library))
    bad = context.build.known_bad(CONTROL)
    control = controlled(GOAL, "every hook takes a mutex and calls getpid",
                         _overhead(context, shape, bad) if bad.exists() else None)
    yield Measured("solo_overhead_beside" if beside else "solo_overhead", case, value, "1", Goal() if beside else GOAL,
                   samples, control, f"one job alone; {shape.condition()}")


def _overhead(context, shape, library):
    """(step with the library) / (without) - 1, medians over iterations, without measured before and after."""
    before = pairs.solo(context, shape)
    hooked = before and pairs.solo(context, shape, library)
    after = hooked and pairs.solo(context, shape)
    if not after:
        return None
    without = (_median_step(before[1], shape) + _median_step(after[1], shape)) / 2
    return _median_step(hooked[1], shape) / without - 1


def _median_step(log, shape):
    return stats.median([i.end_ns - i.begin_ns for r in log.ranks for i in r.iterations[shape.warm_up:]])

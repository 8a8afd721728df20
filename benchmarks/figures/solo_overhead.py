"""solo_overhead: what a job alone pays for the library. Control: a wrapper with a mutex and a getpid.

Taken where it shows: on a launch-bound job. A compute-bound one hides even the control, so it stands beside.
"""

from benchmarks import pairs, stats
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("<=", 0.005)
CONTROL = "slow_hooks"
# The GPU has almost nothing to do, so that the launch path itself is what a step takes; the host may not run ahead, so
# that it sleeps while the GPU communicates, which keeps the processors below the limit.
_BY_CASE = {"launch_bound": pairs.Shape(6.0, compute_ms=0.2, ranks=2, iterations=1500, warm_up=100, queue_depth=8),
            "compute_bound": pairs.Shape(0.6, iterations=150)}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    scope = f"one job alone; {shape.condition()}"
    value, samples = pairs.median_of(context, lambda: _overhead(context, shape, context.build.library))
    if case == "compute_bound":
        yield Measured("solo_overhead_beside", case, value, "1", Goal(), samples, None, scope)
        return
    bad = context.build.known_bad(CONTROL)
    control = controlled(GOAL, "every hook takes a mutex and calls getpid",
                         _overhead(context, shape, bad) if bad.exists() else None)
    yield Measured("solo_overhead", case, value, "1", GOAL, samples, control, scope)


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

"""solo_overhead: what a job alone pays for the library, c = 20 ms.

Two controls. Phases told apart by clocks, with a host wait at each collective, must miss the goal. A wrapper with a
mutex and a getpid is shown beside: some 65 launches of 0.2 us hide behind a GPU that computes for 20 ms, and were they
all exposed, they would be 13 us of a step of 32 ms, a tenth of the goal. What a launch pays is `hook_ns`, where that
wrapper misses by far.
"""

from benchmarks import pairs, stats
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("<=", 0.005)
_SHAPE = pairs.Shape(0.6, iterations=150)
CASES = ("c20", "beside_slow_hooks")


def measure(context, case):
    if case == "c20":
        value, samples = pairs.median_of(context, lambda: _overhead(context, context.build.library))
        control = controlled(GOAL, "the host waits for the GPU at each collective",
                             _overhead(context, context.build.known_bad("timed_phases")))
        yield Measured("solo_overhead", case, value, "1", GOAL, samples, control,
                       f"one job alone; {_SHAPE.condition()}", {}, _SHAPE.conditions(jobs=1))
    else:
        value, samples = pairs.median_of(context, lambda: _overhead(context, context.build.known_bad("slow_hooks")))
        yield Measured("solo_overhead_beside", "slow_hooks", value, "1", Goal(), samples, None,
                       f"every hook takes a mutex and calls getpid; one job alone; {_SHAPE.condition()}", {},
                       _SHAPE.conditions(jobs=1))


def _overhead(context, library):
    """(step with the library) / (without) - 1, medians over iterations, without measured before and after."""
    if not library.exists():
        context.voids.append(f"{library.name} is not built")
        return None
    before = pairs.solo(context, _SHAPE)
    hooked = before and pairs.solo(context, _SHAPE, library)
    after = hooked and pairs.solo(context, _SHAPE)
    if not after:
        return None
    without = (_median_step(before[1]) + _median_step(after[1])) / 2
    return _median_step(hooked[1]) / without - 1


def _median_step(log):
    return stats.median([i.end_ns - i.begin_ns for r in log.ranks for i in r.iterations[_SHAPE.warm_up:]])

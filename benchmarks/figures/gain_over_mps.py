"""gain_over_mps: Crossover over the same jobs running freely under MPS. Control: ungated."""

from benchmarks import logs, pairs, stats
from benchmarks.results import Goal, Measured, controlled

_GOALS = {"0.3": Goal(">=", 1.10), "0.6": Goal(">=", 1.20), "1": Goal(">=", 1.30)}
CASES = tuple(_GOALS)


def measure(context, case):
    goal = _GOALS[case]
    shape = pairs.Shape(float(case), ranks=8, jitter=0.05)
    draws = iter(pairs.offsets(context.runs + 1, (1 + shape.ratio) * shape.compute_ms / 1e3))

    def one(library):
        offset = next(draws)
        free = cycle_ms(context, shape, None, offset)
        ours = free and cycle_ms(context, shape, library, offset)
        return free / ours if ours else None

    value, samples = pairs.median_of(context, lambda: one(context.build.library))
    control = controlled(goal, "no library on either side", one(None))
    yield Measured("gain_over_mps", case, value, "x", goal, samples, control, shape.condition())


def cycle_ms(context, shape, library, offset_s):
    """Mean cycle of both jobs while both run; None if no run was valid."""
    both = pairs.together(context, shape, library, offset_s)
    if both is None:
        return None
    jobs = list(both.jobs.values())
    begin, end = logs.shared_window(jobs, shape.warm_up)
    return stats.mean(j.cycle_ms_within(begin, end) for j in jobs)

"""eta_start measures iterations 20 to 60 from any start, against a bound that no run beats, with the same draws of
compute time. The bound is the larger of T* and each job alone (benchmarks/turns/drawn.py).

Every start has fresh processes and arbiters. The second job starts an offset after the first. The worst start counts.
Control, against the shipped library from the same starts, both without the guard: release after the collective.
"""

from dataclasses import replace
from functools import cache

from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns import drawn, jitter
from testing import pairs
from testing.machine import SMS

_OFFSETS, _SAME_INSTANT = 50, 10
GOAL = Goal(">=", 0.975, "worst", runs=_OFFSETS + _SAME_INSTANT)
_FIRST, _LAST = 20, 60
_BY_CASE = {f"{ranks}ranks_{ratio:g}": pairs.Shape(ratio, ranks=ranks, jitter=0.05, iterations=_LAST + 8,
                                                   counted_from=_FIRST)
            for ranks in (4, 8) for ratio in (0.6, 1.0)}
CASES = tuple(_BY_CASE)
_CONTROL_STARTS = 3


def measure(context, case):
    shape = _BY_CASE[case]
    longest = 2 * (1 + shape.ratio) * shape.compute_ms / 1e3
    starts = [0.0] * _SAME_INSTANT + pairs.offsets(_OFFSETS, longest)
    alone = pairs.solo(context, replace(shape, jitter=0.0))
    etas = _etas(context, shape, context.build.library, starts, alone[0]) if alone else []
    worst_known = min((eta for eta in etas if eta is not None), default=None)
    control = _control(context, shape, starts[-_CONTROL_STARTS:], alone[0]) if alone else None
    yield Measured("eta_start", case, GOAL.of(etas), "1", GOAL, tuple(etas), control,
                   f"{len(starts)} starts; {shape.condition()}", {"worst_known": worst_known},
                   shape.conditions(offsets_ms=f"{_SAME_INSTANT} of 0, {_OFFSETS} from 0 to {longest * 1e3:g}"))


def _control(context, shape, starts, alone):
    with context.without_guard():
        worst = [min(filter(None, _etas(context, shape, library, starts, alone)), default=None)
                 for library in (context.build.known_bad("late_release"), context.build.library)]
    return controlled(GOAL, "release after the collective", *worst)


def _etas(context, shape, library, starts, alone):
    if not context.has(library):
        return []
    etas = []
    for number, offset in enumerate(starts, 1):
        both = pairs.together(context, shape, library, offset)
        bound = _bound_ms(shape, alone.compute_ms, alone.exposed_ms)
        etas.append(pairs.of_bound(context, bound / measured_ms(list(both.jobs.values()))) if both else None)
        context.say(f"    start {number} of {len(starts)}, offset {offset * 1e3:.0f} ms: "
                    + ("missed" if etas[-1] is None else f"{etas[-1]:.4f}"))
    return etas


@cache
def _bound_ms(shape, compute_ms, exposed_ms):
    """Returns the bound of the iterations that count, with the drawn compute times scaled to `compute_ms`."""
    jobs = [[rank[_FIRST:_LAST] for rank in jitter.computes(compute_ms, shape.jitter, seed, shape.ranks, _LAST)]
            for seed in (1, 2)]
    return drawn.bound(jobs, exposed_ms, shape.machine().nccl_ctas / SMS * exposed_ms)


def measured_ms(jobs):
    """Returns the mean cycle of both jobs over the iterations that count, in ms."""
    spans = [(job.ranks[0].iterations[_LAST - 1].end_ns - job.ranks[0].iterations[_FIRST - 1].end_ns) / 1e6
             for job in jobs]
    return sum(spans) / len(spans) / (_LAST - _FIRST)

"""eta_start: from any start, iterations 20 to 60 against first come, first served without hand-over costs.

Every start is one of fresh processes and arbiters; the second job is let go an offset after the first. The yardstick
plays the same draws of compute time, the second job one turn after the first. The worst start counts. Control:
release after the collective.
"""

from dataclasses import replace
from functools import cache

from benchmarks import jitter, pairs, reference
from benchmarks.machine import SMS
from benchmarks.results import Goal, Measured, controlled

_GOALS = {0.6: Goal(">=", 0.97), 1.0: Goal(">=", 0.95)}
_FIRST, _LAST = 20, 60
_BY_CASE = {f"{ranks}ranks_{ratio:g}": pairs.Shape(ratio, ranks=ranks, jitter=0.05, iterations=_LAST + 8)
            for ranks in (4, 8) for ratio in (0.6, 1.0)}
CASES = tuple(_BY_CASE)
_OFFSETS, _SAME_INSTANT = 50, 10
_CONTROL_STARTS = 3


def measure(context, case):
    shape = _BY_CASE[case]
    goal = _GOALS[shape.ratio]
    longest = 2 * (1 + shape.ratio) * shape.compute_ms / 1e3
    starts = [0.0] * _SAME_INSTANT + pairs.offsets(_OFFSETS, longest)
    alone = pairs.solo(context, replace(shape, jitter=0.0))
    etas = _etas(context, shape, context.build.library, starts, alone[0]) if alone else []
    bad = context.build.known_bad("late_release")
    control = _etas(context, shape, bad, starts[-_CONTROL_STARTS:], alone[0]) if alone and bad.exists() else []
    known = [eta for eta in etas if eta is not None]
    complete = len(known) == len(starts)
    yield Measured("eta_start", case, min(known) if complete else None, "1, worst start", goal, tuple(etas),
                   controlled(goal, "release after the collective", min(filter(None, control), default=None)),
                   f"{len(starts)} starts; {shape.condition()}", {"worst_known": min(known, default=None)})


def _etas(context, shape, library, starts, alone):
    etas = []
    for number, offset in enumerate(starts, 1):
        both = pairs.together(context, shape, library, offset)
        best = _yardstick_ms(shape, alone.compute_ms, alone.exposed_ms)
        etas.append(best / measured_ms(list(both.jobs.values())) if both else None)
        context.say(f"    start {number} of {len(starts)}, offset {offset * 1e3:.0f} ms: "
                    + ("missed" if etas[-1] is None else f"{etas[-1]:.4f}"))
    return etas


@cache
def _yardstick_ms(shape, compute_ms, exposed_ms):
    # While one job's collective spins on some multiprocessors, the other's compute has the rest, as in T*.
    stretched = compute_ms + shape.machine().nccl_ctas / SMS * exposed_ms
    jobs = [jitter.computes(stretched, shape.jitter, seed, shape.ranks, shape.iterations) for seed in (1, 2)]
    return reference.cycle(jobs, [exposed_ms] * 2, _FIRST, _LAST)


def measured_ms(jobs):
    """Mean cycle of both jobs over the iterations that count."""
    spans = [(job.ranks[0].iterations[_LAST - 1].end_ns - job.ranks[0].iterations[_FIRST - 1].end_ns) / 1e6
             for job in jobs]
    return sum(spans) / len(spans) / (_LAST - _FIRST)

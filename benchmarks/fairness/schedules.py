"""Rates that two jobs reach on one GPU by schedules that are known: an inner bound, beside the fluid outer bound.

A job is (c, m): it computes for c ms, then it is away for m ms. Three schedules are known: the first job's compute goes
before the second's whenever both want the GPU, the other way round, and whole turns one after the other. A scheduler
may change between schedules, so every mean of their rates is reached too. Pure.
"""

import math

_SETTLED, _ITERATIONS = 50, 400
_MIXES = 100


def step_beside(own, other, hand_over_ms):
    """Returns the mean iteration of `own` in ms where `other` always goes before it. `other` runs as if alone, and
    `own` computes while `other` is away, less a hand-over each time. Infinite where nothing is left."""
    compute, away = own
    begin, period = other[0] + hand_over_ms, sum(other)
    free = period - begin
    if free <= 1e-6:
        return float("inf")
    periods, at = 0, 0.0  # the time is periods * period + at
    for iteration in range(_ITERATIONS):
        at = max(at, begin)
        if compute <= period - at:
            at += compute
        else:
            left = compute - (period - at)
            absences = max(1, math.ceil(left / free - 1e-9))  # in the last of which it ends
            periods, at = periods + absences, begin + left - (absences - 1) * free
        more, at = divmod(at + away, period)
        periods += int(more)
        if iteration == _SETTLED:
            since = periods, at
    return ((periods - since[0]) * period + at - since[1]) / (_ITERATIONS - 1 - _SETTLED)


def points(jobs, hand_over_ms):
    """[(rate of the first, rate of the second)] of the known schedules, in parts of each job's own speed."""
    first, second = jobs
    turns = max(sum(first), sum(second), first[0] + second[0] + 2 * hand_over_ms)
    return [(1.0, sum(second) / step_beside(second, first, hand_over_ms)),
            (sum(first) / step_beside(first, second, hand_over_ms), 1.0),
            (sum(first) / turns, sum(second) / turns)]


def margin(jobs, caps, hand_over_ms=0.0):
    """Returns by how much both jobs can be faster than their caps on slowdown ask. The value is 1 or more where a known
    schedule, or a mix of two, keeps both caps."""
    known = points(jobs, hand_over_ms)
    best = 0.0
    for one in known:
        for other in known:
            for part in range(_MIXES + 1):
                share = part / _MIXES
                best = max(best, min((share * a + (1 - share) * b) * cap for a, b, cap in zip(one, other, caps)))
    return best

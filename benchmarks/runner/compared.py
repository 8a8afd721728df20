"""Compares two ways to run a program, alternating between them, with a stated error. Pure except for what it runs."""

import math
from dataclasses import dataclass

from testing import stats

LEAST_PAIRS, MOST_PAIRS = 20, 80
_TRIMMED = 0.2
_DEVIATIONS = 2.0  # to each side: about 95 of 100 such intervals contain the true ratio


@dataclass(frozen=True)
class Comparison:
    """`ratio` is the first way's time over the second's; `error` is its error to each side."""

    ratio: float
    error: float
    samples: tuple


def compare(run, first, second, error):
    """Runs both ways in pairs. Each pair has the opposite order of the pair before, so a machine that becomes slower
    or faster favours neither. Takes at least LEAST_PAIRS, and more until the error is at most `error`; after
    MOST_PAIRS it returns the error that it has. `run(way)` returns the time that the way took."""
    ratios = []
    while len(ratios) < LEAST_PAIRS or (of(ratios).error > error and len(ratios) < MOST_PAIRS):
        ways = (first, second) if len(ratios) % 2 == 0 else (second, first)
        took = {way: run(way) for way in ways}
        ratios.append(took[first] / took[second])
    return of(ratios)


def of(ratios):
    """Returns the Comparison of these ratios. Trims a few that something else on the machine may have disturbed."""
    logarithms = [math.log(ratio) for ratio in ratios]
    middle = stats.trimmed_mean(logarithms, _TRIMMED)
    spread = _DEVIATIONS * stats.trimmed_error(logarithms, _TRIMMED)
    return Comparison(math.exp(middle), math.exp(middle) * math.expm1(spread), tuple(ratios))

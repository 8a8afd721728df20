"""Two ways of running a program compared: by turns, with a stated error. Pure but for what it is given to run."""

import math
from dataclasses import dataclass

from benchmarks import stats

LEAST_PAIRS, MOST_PAIRS = 20, 80
_TRIMMED = 0.2
_DEVIATIONS = 2.0  # on either side: some 95 of 100 such intervals hold the truth


@dataclass(frozen=True)
class Comparison:
    """`ratio`: the first way's time over the second's. `error`: on either side of it."""

    ratio: float
    error: float
    samples: tuple


def compare(run, first, second, error):
    """Runs both ways by turns, each pair in the other order than the one before, so that a machine that becomes slower
    or faster counts for neither. At least LEAST_PAIRS, and until the error is `error` or less; after MOST_PAIRS it is
    what it is. run(way): what it took."""
    ratios = []
    while len(ratios) < LEAST_PAIRS or (of(ratios).error > error and len(ratios) < MOST_PAIRS):
        ways = (first, second) if len(ratios) % 2 == 0 else (second, first)
        took = {way: run(way) for way in ways}
        ratios.append(took[first] / took[second])
    return of(ratios)


def of(ratios):
    """The Comparison that so many ratios make. A few that something else on the machine disturbed do not count."""
    logarithms = [math.log(ratio) for ratio in ratios]
    middle = stats.trimmed_mean(logarithms, _TRIMMED)
    spread = _DEVIATIONS * stats.trimmed_error(logarithms, _TRIMMED)
    return Comparison(math.exp(middle), math.exp(middle) * math.expm1(spread), tuple(ratios))

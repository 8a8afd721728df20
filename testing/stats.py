"""Computes small statistics over lists of numbers. Pure."""

import math


def median(values):
    """Returns the middle value, or the mean of the two middle ones for an even count."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("median: no values")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def percentile(values, percent):
    """Returns the nearest-rank percentile, which is one of the values."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("percentile: no values")
    if not 0 <= percent <= 100:
        raise ValueError(f"percentile: {percent} is not in 0..100")
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def mean(values):
    values = list(values)
    if not values:
        raise ValueError("mean: no values")
    return math.fsum(values) / len(values)


def median_absolute_deviation(values):
    """Returns the median absolute deviation: a measure of spread that one outlier does not move."""
    middle = median(values)
    return median([abs(v - middle) for v in values])


def trimmed_mean(values, share):
    """Returns the mean without the lowest and the highest `share` of the values."""
    kept = _trimmed(values, share)
    return mean(kept)


def trimmed_error(values, share):
    """Returns the standard error of trimmed_mean(): that of the values with the cut ones moved to the edge of those
    kept."""
    ordered, cut = sorted(values), int(share * len(values))
    kept = _trimmed(values, share)
    if len(kept) < 2:
        raise ValueError(f"trimmed_error: {len(kept)} of {len(ordered)} values are kept, expected 2 or more")
    moved = [kept[0]] * cut + kept + [kept[-1]] * cut
    middle = mean(moved)
    variance = math.fsum((v - middle) ** 2 for v in moved) / (len(moved) - 1)
    return math.sqrt(variance / len(moved)) / (1 - 2 * share)


def _trimmed(values, share):
    if not 0 <= share < 0.5:
        raise ValueError(f"trimmed_mean: share {share} is not in [0, 0.5)")
    ordered, cut = sorted(values), int(share * len(values))
    return ordered[cut:len(ordered) - cut]


def summary(values):
    """Returns what a result line has beside its value, so that a reader can judge the spread."""
    return {"n": len(values), "min": min(values), "median": median(values), "max": max(values),
            "mad": median_absolute_deviation(values)}

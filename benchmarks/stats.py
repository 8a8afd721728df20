"""Small statistics over lists of numbers. Pure."""

import math


def median(values):
    """Middle value; the mean of the two middle ones for an even count."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("median: no values")
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def percentile(values, percent):
    """Nearest-rank percentile: a value that was really seen, never one between two."""
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
    """Spread that one outlier does not move."""
    middle = median(values)
    return median([abs(v - middle) for v in values])


def summary(values):
    """What a result line carries beside its value, so that a reader can judge the spread."""
    return {"n": len(values), "min": min(values), "median": median(values), "max": max(values),
            "mad": median_absolute_deviation(values)}

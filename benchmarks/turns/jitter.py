"""Repeats the trainer's random draws: what each rank was asked to compute in each iteration. Pure."""

import math

_MASK = (1 << 64) - 1


class _SplitMix64:
    def __init__(self, seed):
        self._state = seed & _MASK

    def next(self):
        self._state = (self._state + 0x9e3779b97f4a7c15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & _MASK
        return z ^ (z >> 31)

    def uniform(self):
        return ((self.next() >> 11) + 1) * 2.0 ** -53

    def normal(self):
        radius = math.sqrt(-2.0 * math.log(self.uniform()))
        return radius * math.cos(2.0 * math.pi * self.uniform())


def factor(deviation, seed, rank, iteration, tail=0.0):
    """Returns the factor on the compute time of `rank` in `iteration`: normal(1, deviation), cut at three deviations.
    In a share `tail` of all draws it is multiplied once more by one to three."""
    random = _SplitMix64(seed * 0xd1342543de82ef95 + (rank << 40) + iteration)
    random.next()
    normal = random.normal()
    while abs(normal) > 3.0:
        normal = random.normal()
    drawn = 1.0 + deviation * normal
    return drawn * (1.0 + 2.0 * random.uniform()) if random.uniform() <= tail else drawn


def computes(compute_ms, deviation, seed, ranks, iterations):
    """Returns the compute times of one job in ms, as [rank][iteration]."""
    return [[compute_ms * factor(deviation, seed, rank, k) for k in range(iterations)] for rank in range(ranks)]

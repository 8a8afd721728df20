"""Computes the bound of two jobs with random compute times from the drawn times themselves. Pure.

The bound is the larger of two that no schedule beats. One is T*: what the busiest GPU has to compute for both jobs in
one cycle, plus what their collectives take of it. The other is each job alone, whose collective waits for its slowest
rank. If the jobs are not in the same iterations at both ends of the measurement, one or two of 40 iterations have
other draws than those counted here. That is 0.2% of the bound.
"""

import math


def bound(computes, exposed, spinning=0.0):
    """Returns the least mean cycle. `computes[job][rank][iteration]` are compute times. `exposed` is the time from
    the end of the slowest rank's compute to the start of the next iteration. `spinning` is what one job's collective
    takes of a GPU's time."""
    count = len(computes[0][0])
    gpu = max(math.fsum(math.fsum(job[rank]) for job in computes) for rank in range(len(computes[0])))
    alone = max(math.fsum(map(max, zip(*job))) for job in computes)
    return max(gpu / count + spinning * len(computes), alone / count + exposed)

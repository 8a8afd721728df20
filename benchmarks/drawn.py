"""The bound of two jobs whose compute times are drawn, from the draws themselves. Pure.

It is the larger of two that no schedule beats: T*, which is what the busiest GPU has to compute for both jobs in one
cycle, with what collectives hold of it meanwhile; and each job alone, whose collective waits for the slowest of its
ranks. Where the jobs are not in the same iterations at both ends of what is measured, draws of one or two iterations in
40 are others than those counted here: 0.2% of the bound.
"""

import math


def bound(computes, exposed, spinning=0.0):
    """The least mean cycle. `computes[job][rank][iteration]`: compute times; `exposed`: from the end of the slowest
    rank's compute to the start of the next iteration; `spinning`: what one job's collective takes of a GPU's time."""
    count = len(computes[0][0])
    gpu = max(math.fsum(math.fsum(job[rank]) for job in computes) for rank in range(len(computes[0])))
    alone = max(math.fsum(map(max, zip(*job))) for job in computes)
    return max(gpu / count + spinning * len(computes), alone / count + exposed)

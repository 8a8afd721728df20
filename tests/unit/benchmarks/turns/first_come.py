"""Plays jobs first come, first served with no hand-over cost, from given compute times. A bound must hold for it.

The second job starts one turn after the first, so the order trap is never entered.
"""

import heapq


def cycle(computes, exposed, first=0, last=None):
    """Returns the mean cycle over iterations `first` to `last`.

    `computes[job][rank][iteration]` is a compute time, and rank r of each job runs on GPU r. `exposed[job]` is the
    time from the last rank's end of compute to the start of the next iteration. The caller chooses the unit of all
    times.
    """
    ends = _iteration_ends(computes, exposed)
    last = min(len(e) for e in ends) if last is None else last
    return sum((e[last - 1] - e[first - 1 if first else 0]) / (last - max(first, 1)) for e in ends) / len(ends)


def _iteration_ends(computes, exposed):
    """Returns when each iteration's collective ends, per job."""
    ranks = len(computes[0])
    free_at = [0.0] * ranks
    left = [[ranks] * min(map(len, job)) for job in computes]
    latest = [[0.0] * len(row) for row in left]
    ends = [[] for _ in computes]
    # GPUs serve arrivals in order of time, and equal times in order of the job, as every arbiter breaks ties.
    arrivals = [(job * max(row[0] for row in computes[0]), job, rank, 0)
                for job in range(len(computes)) for rank in range(ranks)]
    heapq.heapify(arrivals)
    while arrivals:
        time, job, rank, iteration = heapq.heappop(arrivals)
        done = max(time, free_at[rank]) + computes[job][rank][iteration]
        free_at[rank] = done
        latest[job][iteration] = max(latest[job][iteration], done)
        left[job][iteration] -= 1
        if left[job][iteration]:
            continue
        joined = latest[job][iteration] + exposed[job]
        ends[job].append(joined)
        if iteration + 1 < len(left[job]):
            for each in range(ranks):
                heapq.heappush(arrivals, (joined, job, each, iteration + 1))
    return ends

"""Computes lower bounds on the cycle of jobs that take turns on one set of GPUs.

Pure arithmetic, in any unit of time (usually milliseconds). A *cycle* is the time in which every job completes one
iteration. No bound includes the cost of a hand-over, so no schedule beats a bound. A measurement may beat it by the
error of the software GPU: its links count bytes as transferred up to 60 us early, and c and m are themselves
measured. A measurement more than TOLERANCE above 1 is wrong.
"""

from dataclasses import dataclass
from itertools import combinations

TOLERANCE = 0.01


@dataclass(frozen=True)
class Segment:
    """One turn of an iteration: `compute` on the GPU, then `exposed` time off it, of which `link` is on the wire."""

    compute: float
    exposed: float
    link: float = 0.0


@dataclass(frozen=True)
class Job:
    """One iteration as a cyclic sequence of segments. `hidden_link` is wire time under the job's own compute."""

    segments: tuple
    hidden_link: float = 0.0

    @property
    def compute(self):
        return sum(s.compute for s in self.segments)

    @property
    def exposed(self):
        return sum(s.exposed for s in self.segments)

    @property
    def link(self):
        return self.hidden_link + sum(s.link for s in self.segments)

    @property
    def solo(self):
        return self.compute + self.exposed


def one_turn(compute, exposed, link=0.0):
    """Returns a job that computes once and synchronises once in each iteration."""
    return Job((Segment(compute, exposed, min(link, exposed)),), max(0.0, link - exposed))


def cycle_bound(jobs, collective_sms=0, sms=1, links="shared"):
    """Returns T*, the largest of what the GPU, each job alone, and the links need.

    While a collective is exposed, `collective_sms` of `sms` multiprocessors are busy. `links` is "shared" if all jobs
    of a node share them, or "private".
    """
    spinning = collective_sms / sms * sum(j.exposed for j in jobs)
    gpu = sum(j.compute for j in jobs) + spinning
    alone = max(j.solo for j in jobs)
    wire = [j.link for j in jobs]
    return max(gpu, alone, sum(wire) if links == "shared" else max(wire))


def best_cycle(jobs, collective_sms=0, sms=1, links="shared"):
    """Returns T* for two jobs of several turns: the best of all cyclic orders on the GPU (and on a shared link).

    A job may wait, so a fixed cyclic order runs at the largest cycle ratio of its event graph. The orders are tried
    one by one. None is below `cycle_bound`, so the search ends as soon as it reaches that bound.
    """
    floor = cycle_bound(jobs, collective_sms, sms, links)
    if len(jobs) != 2:
        raise ValueError(f"best_cycle: searches orders of 2 jobs, got {len(jobs)}")
    if all(len(j.segments) == 1 for j in jobs):
        return floor
    shared = links == "shared" and all(s.link > 0 for j in jobs for s in j.segments)
    best = float("inf")
    for gpu_order in _cyclic_orders(*(len(j.segments) for j in jobs)):
        for wire in _wire_plans(gpu_order) if shared else [None]:
            best = min(best, _period(_event_graph(jobs, gpu_order, wire), best))
            if best <= floor * (1 + 1e-9):
                return floor
    return best


def gain(jobs, cycle):
    """Returns how many times faster the jobs are together than one after the other."""
    return sum(j.solo for j in jobs) / cycle


def _cyclic_orders(p, q):
    """Yields the circular orders of p operations of job 0 and q of job 1. Each job keeps its own order.

    Job 0's first operation always comes first, because all rotations of a circle are the same order.
    """
    for first in range(q):
        turned = [(1, (first + i) % q) for i in range(q)]
        for places in combinations(range(1, p + q), q):
            order, mine, theirs = [], iter(range(p)), iter(turned)
            for place in range(p + q):
                order.append(next(theirs) if place in places else (0, next(mine)))
            yield tuple(order)


def _wire_plans(gpu_order):
    """Yields the orders on a shared link within one turn of the circle: (order, for each job whether it is one turn
    late).

    The last wire operation of a late job belongs to the segment before its last one on the GPU.
    """
    by_job = [[index for job, index in gpu_order if job == wanted] for wanted in (0, 1)]
    for late in ((False, False), (False, True), (True, False), (True, True)):
        lines = [row[-1:] + row[:-1] if shift else row for row, shift in zip(by_job, late)]
        total = len(gpu_order)
        for places in combinations(range(total), len(lines[1])):
            left = [iter(line) for line in lines]
            owners = [1 if place in places else 0 for place in range(total)]
            yield tuple((owner, next(left[owner])) for owner in owners), late


def _event_graph(jobs, gpu_order, wire):
    """Returns edges (from, to, weight, wraps): `to` starts at least `weight` after `from`, and `wraps` circles later.
    """
    edges = _resource_edges(gpu_order, "gpu", lambda s: s.compute, jobs)
    if wire:
        edges += _resource_edges(wire[0], "link", lambda s: s.link, jobs)
    for job, shape in enumerate(jobs):
        last = [index for owner, index in gpu_order if owner == job][-1]
        count = len(shape.segments)
        for index, segment in enumerate(shape.segments):
            here, there = (job, index), (job, (index + 1) % count)
            wraps = 1 if index == last else 0
            if not wire:
                edges.append((("gpu", *here), ("gpu", *there), segment.compute + segment.exposed, wraps))
                continue
            late = wire[1][job]
            edges.append((("gpu", *here), ("link", *here), segment.compute, wraps if late else 0))
            edges.append((("link", *here), ("gpu", *there), segment.exposed, 0 if late else wraps))
    return edges


def _resource_edges(order, resource, weight, jobs):
    """Returns edges by which each operation starts after the one before it on the resource ends. The last wraps to
    the first."""
    edges = []
    for place, (job, index) in enumerate(order):
        follower = order[(place + 1) % len(order)]
        wraps = 1 if place + 1 == len(order) else 0
        edges.append(((resource, job, index), (resource, *follower), weight(jobs[job].segments[index]), wraps))
    return edges


def _period(edges, give_up):
    """Returns the largest weight / wraps over the graph's cycles, or infinity if there is none below `give_up`."""
    low, high = 0.0, sum(weight for _, _, weight, _ in edges)
    if give_up <= high:
        high = give_up
    if _exceeds(edges, high):
        return float("inf")
    while high - low > 1e-9 * max(high, 1.0):
        middle = (low + high) / 2
        if _exceeds(edges, middle):
            low = middle
        else:
            high = middle
    return high


def _exceeds(edges, period):
    """Returns whether some cycle weighs more than `period` times its wraps. Then the longest paths grow without end."""
    start = dict.fromkeys((source for source, *_ in edges), 0.0)
    for _ in range(len(start) + 1):
        changed = False
        for source, target, weight, wraps in edges:
            value = start[source] + weight - period * wraps
            if value > start[target] + 1e-9:
                start[target] = value
                changed = True
        if not changed:
            return False
    return True

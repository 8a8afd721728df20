"""Predicts the cycle of jobs whose all-reduces are narrowed, from what one of them does alone as it is. Pure.

    T(r) = max( sum(c + k), max(c + k + m / r), sum of the time on a shared link )

c is the compute time of an iteration, m its exposed communication time, and r the ratio of the bytes that pass the
slowest link. k is what narrowing takes: its kernels run on the GPU, and the rest of it, such as the messages of q8,
passes while the neighbour computes. The bound is that of testing/bounds.py, so collectives hold their multiprocessors,
too.
"""

from dataclasses import dataclass

from testing import bounds
from testing.machine import SMS, ring_all_reduce_seconds
from testing.shrink import wire


@dataclass(frozen=True)
class Narrowing:
    """`kernels_ms` is the part of `codec_ms` in which kernels run."""

    ratio: float
    codec_ms: float
    kernels_ms: float


NONE = Narrowing(1.0, 0.0, 0.0)


def ratio(level, count, nodes, per_node):
    """Returns by what the bytes of an all-reduce of `count` floats on a node's link are divided."""
    if level == "bf16":
        return 2.0
    from_others, _ = wire.formula(count, nodes, per_node)
    of_nodes = [sum(from_others[node * per_node:(node + 1) * per_node]) for node in range(nodes)]
    return ring_all_reduce_seconds(4 * count, nodes * per_node, 1.0) / max(of_nodes)


def cycle_ms(solo, jobs, narrowing, links, collective_ctas):
    """Returns T(r) of so many equal jobs. `solo` is evaluate.Solo of one of them, which is not narrowed."""
    on_link = solo.exposed_ms / narrowing.ratio
    job = bounds.one_turn(solo.compute_ms + narrowing.kernels_ms,
                          on_link + max(0.0, narrowing.codec_ms - narrowing.kernels_ms), on_link)
    return bounds.cycle_bound([job] * jobs, collective_ctas, SMS, links)

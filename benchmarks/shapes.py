"""The trainer's iteration as the bounds see it: its turns, from measured solo runs. Pure.

The trainer spends 0.3 of its compute forward, 0.6 backward and 0.1 in the optimizer. Its gradients are joined
before the optimizer; `broadcast_buffers` has a small broadcast before forward, `loss_allreduce` a small all-reduce
between forward and backward, each joined by the compute that follows.
"""

from benchmarks.bounds import Job, Segment, one_turn
from benchmarks.machine import ring_all_reduce_seconds

FORWARD, BACKWARD, OPTIMIZER = 0.3, 0.6, 0.1
# Share of the compute between the join of the gradients and the small collective.
_BEFORE_SMALL = {"broadcast_buffers": OPTIMIZER, "loss_allreduce": OPTIMIZER + FORWARD}


def has_small_collective(variant):
    """Whether an iteration has a second turn, behind a small collective."""
    return variant in _BEFORE_SMALL


def job_shape(variant, solo, plain, gradient_bytes, ranks, link_bytes_per_s):
    """`solo`: evaluate.Solo of this variant alone. `plain`: of the plain one, which has no small collective: what is
    exposed beyond it is the small one's."""
    link_ms = ring_all_reduce_seconds(gradient_bytes, ranks, link_bytes_per_s) * 1e3
    if not has_small_collective(variant):
        return one_turn(solo.compute_ms, solo.exposed_ms, link_ms)
    small_ms = max(0.0, solo.exposed_ms - plain.exposed_ms)
    late_ms = solo.exposed_ms - small_ms
    first = _BEFORE_SMALL[variant] * solo.compute_ms
    # The small collective's bytes are nothing: it is exposed by latency and takes no link time worth a bound.
    return Job((Segment(first, small_ms, 0.0), Segment(solo.compute_ms - first, late_ms, late_ms)),
               link_ms - late_ms if link_ms > late_ms else 0.0)

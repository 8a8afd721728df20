"""The trainer's iteration as the bounds see it: its turns, from a measured solo run. Pure.

The trainer spends 0.3 of its compute forward, 0.6 backward and 0.1 in the optimizer. Its gradients are joined
before the optimizer; `broadcast_buffers` has a small broadcast before forward, `loss_allreduce` a small all-reduce
between forward and backward, each joined by the compute that follows.
"""

from benchmarks.bounds import Job, Segment, one_turn
from benchmarks.machine import ring_all_reduce_seconds

FORWARD, BACKWARD, OPTIMIZER = 0.3, 0.6, 0.1
# Share of the compute between the join of the gradients and the small collective.
_BEFORE_SMALL = {"broadcast_buffers": OPTIMIZER, "loss_allreduce": OPTIMIZER + FORWARD}


def job_shape(variant, solo, gradient_bytes, early_bytes, ranks, link_bytes_per_s):
    """`solo`: evaluate.Solo of this variant alone."""
    link_ms = ring_all_reduce_seconds(gradient_bytes, ranks, link_bytes_per_s) * 1e3
    if variant not in _BEFORE_SMALL:
        return one_turn(solo.compute_ms, solo.exposed_ms, link_ms)
    late_ms = link_ms * (1 - early_bytes)
    small_ms = max(0.0, solo.exposed_ms - late_ms)
    late_ms = solo.exposed_ms - small_ms
    first = _BEFORE_SMALL[variant] * solo.compute_ms
    # The small collective's bytes are nothing: it is exposed by latency and takes no link time worth a bound.
    return Job((Segment(first, small_ms, 0.0), Segment(solo.compute_ms - first, late_ms, late_ms)),
               link_ms - late_ms if link_ms > late_ms else 0.0)

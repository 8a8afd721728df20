"""Describes the trainer's iteration for the bounds: its turns, from measured solo runs. Pure.

The trainer spends 0.3 of its compute forward, 0.6 backward and 0.1 in the optimizer. The optimizer waits for the
gradients. `broadcast_buffers` has a small broadcast before forward, and `loss_allreduce` a small all-reduce between
forward and backward. The compute after each of them waits for it.
"""

from testing.bounds import Job, Segment, one_turn
from testing.machine import ring_all_reduce_seconds

FORWARD, BACKWARD, OPTIMIZER = 0.3, 0.6, 0.1
# Share of the compute between the wait for the gradients and the small collective.
_BEFORE_SMALL = {"broadcast_buffers": OPTIMIZER, "loss_allreduce": OPTIMIZER + FORWARD}


def has_small_collective(variant):
    """Returns whether an iteration has a second turn, after a small collective."""
    return variant in _BEFORE_SMALL


def job_shape(variant, solo, plain, gradient_bytes, ranks, link_bytes_per_s):
    """Returns the job for the bounds. `solo` is evaluate.Solo of this variant alone. `plain` is that of the plain
    variant, which has no small collective: the small collective causes the exposed time beyond it."""
    link_ms = ring_all_reduce_seconds(gradient_bytes, ranks, link_bytes_per_s) * 1e3
    if not has_small_collective(variant):
        return one_turn(solo.compute_ms, solo.exposed_ms, link_ms)
    small_ms = max(0.0, solo.exposed_ms - plain.exposed_ms)
    late_ms = solo.exposed_ms - small_ms
    first = _BEFORE_SMALL[variant] * solo.compute_ms
    # The bytes of the small collective do not matter: latency exposes it, and it takes almost no link time.
    return Job((Segment(first, small_ms, 0.0), Segment(solo.compute_ms - first, late_ms, late_ms)),
               link_ms - late_ms if link_ms > late_ms else 0.0)

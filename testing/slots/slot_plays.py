"""Plays pods on a SlotNode of their own, from the first to the last."""

from testing.slots.slot_churn import Churn
from testing.slots.slot_node import SlotNode
from testing.slots.slot_pods import ASSIGNMENT

_SEED = 6


def play(build, habits, count, shown=lambda pod: pod):
    """Runs `count` pods and returns their Tally. `shown` maps each pod to what the daemon sees of it."""
    with SlotNode(build, shown=shown) as node:
        churn = Churn(node, _SEED, habits)
        while churn.tally.pods < count:
            churn.burst(count - churn.tally.pods)
    return churn.tally


def unassigned(pod):
    """Returns the pod without its assignment."""
    metadata = pod["metadata"]
    kept = {key: value for key, value in metadata["annotations"].items() if key != ASSIGNMENT}
    return {**pod, "metadata": {**metadata, "annotations": kept}}

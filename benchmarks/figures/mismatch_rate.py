"""mismatch_rate is the share of containers that got other GPUs than they were assigned, over all containers of 2,000
pods. A kubelet's real device manager admits them, and the real node daemon answers it. No fault is injected.

Cases: pods of all kinds in bursts, with containers of several sizes, init containers and sidecars; pods that all ask
for the same; pods that end while others are admitted; pods that are bound in another order than they were made in.

Control: pods whose assignment the daemon does not see.
"""

from benchmarks.results import Goal, Measured, controlled
from benchmarks.slot_churn import Churn, Habits
from benchmarks.slot_node import SlotNode
from benchmarks.slot_pods import ASSIGNMENT, PAIRS

GOAL = Goal("==", 0)
SCOPE = "component"
_HABITS = {"mixed": Habits(), "equal_sizes": Habits(kind=PAIRS), "late_endings": Habits(late_endings=True),
           "bound_in_any_order": Habits(any_order=True)}
CASES = tuple(_HABITS)
_PODS, _CONTROL_PODS = 2000, 500
_SEED = 6


def measure(context, case):
    tally = play(context, _HABITS[case], _PODS)
    blind = play(context, _HABITS[case], _CONTROL_PODS, unassigned)
    what = f"the daemon does not see what {_CONTROL_PODS} pods are assigned"
    yield Measured("mismatch_rate", case, tally.rate, "of the containers", GOAL, (tally.rate,),
                   controlled(GOAL, what, blind.rate), _condition(case), tally.remarks())


def play(context, habits, count, shown=lambda pod: pod):
    """Runs `count` pods and returns their Tally. `shown` maps each pod to what the daemon sees of it."""
    with SlotNode(context.build, shown=shown) as node:
        churn = Churn(node, _SEED, habits)
        while churn.tally.pods < count:
            churn.burst(count - churn.tally.pods)
    context.say(f"    {churn.tally.differing} of {churn.tally.containers} containers")
    return churn.tally


def unassigned(pod):
    """Returns the pod without its assignment."""
    metadata = pod["metadata"]
    kept = {key: value for key, value in metadata["annotations"].items() if key != ASSIGNMENT}
    return {**pod, "metadata": {**metadata, "annotations": kept}}


def _condition(case):
    return f"{_PODS} pods on 8 GPUs of 3 slots, up to 6 in flight at once, {case.replace('_', ' ')}"

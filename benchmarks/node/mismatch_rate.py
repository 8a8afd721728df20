"""mismatch_rate is the share of containers that got other GPUs than they were assigned, over all containers of 2,000
pods. A kubelet's real device manager admits them, and the real node daemon answers it. No fault is injected.

Cases: pods of all kinds in bursts, with containers of several sizes, init containers and sidecars; pods that all ask
for the same; pods that end while others are admitted; pods that are bound in another order than they were made in.

Control: pods whose assignment the daemon does not see.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing.slots.slot_churn import Habits
from testing.slots.slot_plays import play, unassigned
from testing.slots.slot_pods import PAIRS

GOAL = Goal("==", 0)
SCOPE = "component"
_HABITS = {"mixed": Habits(), "equal_sizes": Habits(kind=PAIRS), "late_endings": Habits(late_endings=True),
           "bound_in_any_order": Habits(any_order=True)}
CASES = tuple(_HABITS)
_PODS, _CONTROL_PODS = 2000, 500


def measure(context, case):
    tally = _play(context, _HABITS[case], _PODS)
    blind = _play(context, _HABITS[case], _CONTROL_PODS, shown=unassigned)
    what = f"the daemon does not see what {_CONTROL_PODS} pods are assigned"
    yield Measured("mismatch_rate", case, tally.rate, "of the containers", GOAL, (tally.rate,),
                   controlled(GOAL, what, blind.rate), _condition(case), tally.remarks())


def _play(context, habits, count, **shown):
    tally = play(context.build, habits, count, **shown)
    context.say(f"    {tally.differing} of {tally.containers} containers")
    return tally


def _condition(case):
    return f"{_PODS} pods on 8 GPUs of 3 slots, up to 6 in flight at once, {case.replace('_', ' ')}"

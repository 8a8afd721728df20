"""churn is the memory that the extender grows by while gangs come and go, per 1,000 gangs once it is warm. The
webhook's certificates, the Lease and the tokens are replaced meanwhile. churn_leaked counts the objects, reservations
and GPUs that are left over.

Control: gangs that wait for what is not there, and stay.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster import gang_churn
from testing.cluster.rig import Refused
from testing.processes import Failed

SCOPE = "component"
_GROWTH, _NONE = Goal("<=", 0.3), Goal("==", 0)
_CASES = {"14400_gangs": 14_400}  # a cluster's day with a gang every six seconds; half an hour
CASES = tuple(_CASES)
_STAY = 200


def measure(context, case):
    try:
        found = gang_churn.play(context.build, _CASES[case], 1, say=context.say)
        grown, left = gang_churn.never_going(context.build, _STAY)
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    condition = f"{found.gangs} gangs; {gang_churn.CONDITION}"
    notes = {"replaced": found.replaced, "extenders_mib": list(found.memory_mib)}
    control = f"{_STAY} gangs that stay"
    yield Measured("churn", case, found.growth, "MiB per 1,000 gangs", _GROWTH, (found.growth,),
                   controlled(_GROWTH, control, grown), condition, notes)
    yield Measured("churn_leaked", case, len(found.leaked), "leftovers", _NONE, (len(found.leaked),),
                   controlled(_NONE, control, left), condition, {"leaked": list(found.leaked)})

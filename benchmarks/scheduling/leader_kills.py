"""leader_kills counts what is left of gangs once no more come, after the leading scheduler and extender were killed
again and again and others took over. It counts gangs that never ran, reservations of pods that wait, half gangs past
their deadline, and GPUs that were given twice or that no pod can have any more. `leader_kills_s` is the time from the
end of a dead leader's lease until a gang that came meanwhile is bound, the slowest one.

Controls: both replicas end and none is started again; the replica that is to take over stands still for eight seconds.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.scheduling import leaders
from testing.cluster.rig import Refused
from testing.processes import Failed

CASES = ("kwok",)
SCOPE = "component"
_NONE, _SOON = Goal("==", 0), Goal("<=", leaders.ACTS_WITHIN_S)
_KILLS = 20
_LATE_S = 8.0


def measure(context, case):
    try:
        found = leaders.play(context.build, _KILLS, 1, context.say)
        left = leaders.no_leader_follows(context.build)
        late_s = leaders.late_follower(context.build, _LATE_S)
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    condition = f"{_KILLS} kills, {leaders.CONDITION}"
    yield Measured("leader_kills", case, len(found.leaked), "leftovers", _NONE, (len(found.leaked),),
                   controlled(_NONE, "none is started again", len(left)), condition, {"leaked": list(found.leaked)})
    yield Measured("leader_kills_s", case, max(found.after_s), "s, slowest", _SOON, found.after_s,
                   controlled(_SOON, f"the other stands still for {_LATE_S:.0f} s", late_s), condition)

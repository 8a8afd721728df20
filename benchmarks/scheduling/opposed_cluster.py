"""opposed_cluster counts what goes wrong for a gang, and what is left of it, where a cluster changes between its plan
and its binding, or while it runs. The gang must run, or wait with the true reason in its events. No gang may be bound
in part, keep a reservation or have a GPU twice, and another gang gets all GPUs afterwards
(testing/cluster/opposed_plays.py).

Control: all replicas are gone before the gang comes.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster import opposed_plays
from testing.cluster.gang_cluster import GangCluster
from testing.cluster.rig import Refused
from testing.processes import Failed

SCOPE = "component"
_GOAL = Goal("==", 0)
_LEASE_S, _SHORT_LEASE_S = 15, 3
_AWAY_S, _UPDATES = 30.0, 20
_PLAYS = {
    "cpu_full": (opposed_plays.cpu_full, "its node's CPUs are taken"),
    "cpu_full_everywhere": (opposed_plays.cpu_full_everywhere, "those of all nodes are taken"),
    "tainted": (opposed_plays.tainted, "its node is tainted"),
    "cordoned": (opposed_plays.cordoned, "its node is cordoned"),
    "volume_elsewhere": (opposed_plays.volume_elsewhere, "its volume is in another zone"),
    "volume_out_of_reach": (opposed_plays.volume_out_of_reach, "its volume is in a zone with too few GPUs"),
    "recreated": (opposed_plays.recreated, "one of its pods is deleted and comes again"),
    "scheduler_killed": (opposed_plays.scheduler_killed, "the scheduler that leads is killed"),
    "api_server_away": (lambda world: opposed_plays.api_server_away(world, _AWAY_S),
                        f"the API server is away for {_AWAY_S:.0f} s"),
    "connections_lost": (opposed_plays.connections_lost, "the leader's connections to the API server fall silent"),
    "lease_moved": (opposed_plays.lease_moved, "the Lease is given to another replica by force"),
    "rolling_updates": (lambda world: opposed_plays.rolling_updates(world, _UPDATES),
                        f"{_UPDATES} rolling updates of two replicas under load")}
CASES = tuple(_PLAYS)


def measure(context, case):
    play, words = _PLAYS[case]
    lease_s = _SHORT_LEASE_S if case == "rolling_updates" else _LEASE_S
    control = {"replicas": 2, "lease_s": lease_s, "settings": opposed_plays.SETTINGS}
    try:
        with GangCluster(context.build, 2, 4, control=control) as world:
            wrong = play(world)
            bad = opposed_plays.no_decision(world)
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    for each in wrong:
        context.say(f"    {each}")
    condition = f"{words}; a gang of 4 pods on nodes that KWOK plays, two replicas, a lease of {lease_s} s"
    yield Measured("opposed_cluster", case, len(wrong), "faults", _GOAL, (len(wrong),),
                   controlled(_GOAL, "all replicas are gone", len(bad)), condition, {"wrong": wrong} if wrong else {})

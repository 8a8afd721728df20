"""Kills leaders of schedulers and extenders while gangs come and go (testing/cluster/leader_plays.py)."""

from dataclasses import dataclass

from testing.cluster.gang_cluster import FAKE, POOL, GangCluster
from testing.cluster.gang_plays import Arrivals, fills
from testing.cluster.leader_plays import Leaders
from testing.processes import Failed

LEASE_S, ACTS_WITHIN_S = 3, 5.0
_NODES, _GPUS, _DEADLINE_S, _AT_A_TIME = 6, 4, 30, 12
_PATIENCE_S = 120.0
_JOB = {"annotations": {"crossover.dev/gpu-memory": "30Gi"}, "nodeSelector": {POOL: FAKE}}
CONDITION = (f"two replicas, a lease of {LEASE_S} s, at most {_AT_A_TIME} gangs at a time on {_NODES} nodes of {_GPUS} "
             "GPUs that KWOK plays")


@dataclass(frozen=True)
class Outcome:
    """`after_s` has, for each kill, the time from the end of the lease until a gang that came meanwhile was bound.
    `leaked` says what was left when no more gangs came."""

    after_s: tuple
    leaked: tuple


def play(build, kills, seed, say=lambda text: None):
    with _world(build) as world, Leaders(world, LEASE_S) as leaders:
        arrivals = Arrivals(world, None, seed, most=_AT_A_TIME, **_JOB)
        after_s = []
        with world.meanwhile(arrivals.step):
            for number in range(kills):
                after_s.append(leaders.kill())
                say(f"    {number + 1} of {kills}: {after_s[-1]:.2f} s after the lease; {len(arrivals.sizes)} gangs")
            leaked = _leaked(world, arrivals)
        return Outcome(tuple(after_s), leaked)


def no_leader_follows(build):
    """The control: both replicas are killed and none is started again. Returns what is left."""
    with _world(build) as world:
        arrivals = Arrivals(world, None, 1, most=_AT_A_TIME, **_JOB)
        with world.meanwhile(arrivals.step):
            world.until(lambda: len(arrivals.sizes) > 3 * _AT_A_TIME, "gangs come and go")
            for number in range(2):
                world.control.stop_pair(number)
            return _leaked(world, arrivals, patience_s=15.0)


def late_follower(build, late_s):
    """The control: the other replica stands still for so long after the lease has ended. Returns when a replica acts.
    """
    with _world(build) as world, Leaders(world, LEASE_S) as leaders:
        return leaders.kill(standby_late_s=late_s)


def _leaked(world, arrivals, patience_s=_PATIENCE_S):
    arrivals.stop()
    wrong = []
    try:
        world.until(lambda: not arrivals.unfinished, "all gangs have run", patience_s)
    except Failed:
        wrong += [f"{name} never ran" for name in arrivals.unfinished]
    wrong += [f"{name} keeps a reservation" for name in sorted(world.lives.reserved())]
    wrong += [f"{name} was half there for too long" for name in world.lives.half_past(_DEADLINE_S + LEASE_S)]
    wrong += [f"{gpu} was given twice" for gpu in sorted(world.judge.found)]
    if not wrong:
        try:
            fills(world, _NODES * _GPUS, **_JOB)
        except Failed as failure:
            wrong.append(str(failure))
    return tuple(wrong)


def _world(build):
    return GangCluster(build, _NODES, _GPUS, control={"replicas": 2, "lease_s": LEASE_S,
                                                      "settings": {"gangs": {"deadline_s": _DEADLINE_S}}})

"""control_plane counts gangs that were half bound for longer than their deadline, out of 50 gangs that come at random
for too few GPUs. etcd, API server, controllers, schedulers, webhook and extender are the real ones. Some nodes have
kubelets and node daemons, and KWOK plays the others. A gang runs once all its pods are bound, and then goes. The figure
waits until all gangs have run.

`control_plane_over_allocations` counts GPUs with more pods than slots or with two pods of a gang, by what pods were
assigned and by what nodes say. `control_plane_untold` counts pods that waited for longer than 10 s and were never told
why by an event. `control_plane_pairwise` tells whether two gangs of 8 pods have the same GPUs on real nodes, where
others were free.

Controls: the same gangs of slots alone, by the default scheduler; a scheduler that binds two pods of a gang to one GPU;
an extender that may not write events; a scheduler that puts the second gang four GPUs further.

kube_* is the version of Kubernetes. Versions that `make test` does not need are measured where they are installed
(tools/install.sh --matrix), or when a case is asked for by name.
"""

import time

from benchmarks.cluster import cluster
from benchmarks.cluster.cluster import left_out
from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.gang_cluster import FAKE, GangCluster, POOL, REAL
from testing.cluster.gang_plays import Arrivals, fake_gpus_of, meet, meet_by_hand, place
from testing.cluster.gangs import ANNOTATED, PLAIN
from testing.cluster.rig import Refused
from testing.machine import Machine
from testing.processes import Failed

__all__ = ["CASES", "left_out", "measure"]

CASES = ("kube_1.36", "kube_1.34", "kube_1.31")
_NONE, _MEET = Goal("==", 0), Goal("==", 1)
_MACHINE = Machine(nodes=2, gpus_per_node=6)
_FAKE, _GPUS = 4, 4
_MANY, _DEADLINE_S, _TOLD_WITHIN_S = 50, 30, 10.0
_CAP = {"crossover.dev/gpu-memory": "256Mi"}
_OURS = {"how": ANNOTATED, "annotations": _CAP}


def measure(context, case):
    settings = {"gangs": {"deadline_s": _DEADLINE_S}}
    try:
        with GangCluster(context.build, _FAKE, _GPUS, _MACHINE, {"webhook": True, "settings": settings},
                         **cluster.versions(case)) as world:
            yield from _lines(context, case, world)
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal


def _lines(context, case, world):
    met = meet(world, 8, _MACHINE.ranks - 8, nodeSelector={POOL: REAL}, **_OURS)
    arrivals = Arrivals(world, _MANY, seed=7, **_OURS)
    began = time.monotonic()
    arrivals.come()
    world.until(arrivals.step, "all gangs have run", 600.0)
    lasted_s = time.monotonic() - began
    half, over = world.lives.half_past(_DEADLINE_S), sorted(world.judge.found)
    untold, waited = world.lives.waited_untold(_TOLD_WITHIN_S)
    context.say(f"    {_MANY} gangs within {lasted_s:.0f} s; half: {half}; over-allocated: {over}; "
                f"{untold} of {waited} untold; the two {'met' if met else 'did not meet'}")
    with world.unadmitted():  # the webhook refuses slots of pods that do not say that they share
        by_default, by_hand, shifted = _half_by_default(world), _over_by_hand(world), meet_by_hand(world, 8, shift=4)
    condition = (f"{_MANY} gangs of {sum(arrivals.sizes.values())} pods on 2 real nodes of 6 GPUs and {_FAKE} of KWOK "
                 f"of {_GPUS}, two slots each; deadline {_DEADLINE_S} s")
    notes = {"kubernetes": world.cluster.setup.programs.kube_version, "half": half, "over_allocated": over}
    yield Measured("control_plane", case, len(half), "half gangs", _NONE, (len(half),),
                   controlled(_NONE, "slots alone, by the default scheduler", by_default), condition,
                   notes)
    yield Measured("control_plane_over_allocations", case, len(over), "GPUs", _NONE, (len(over),),
                   controlled(_NONE, "a user binds two pods of a gang to one GPU", by_hand), condition)
    yield Measured("control_plane_pairwise", case, int(met), "pairs of gangs that met", _MEET, (int(met),),
                   controlled(_MEET, "a user puts the second four GPUs further", int(shifted)),
                   "two gangs of 8 pods and one of 4 on 2 real nodes of 6 GPUs")
    yield Measured("control_plane_untold", case, untold, f"pods of {waited}", _NONE, (untold,),
                   controlled(_NONE, "an extender that may not write events", _untold_without_events(world)), condition)


def _half_by_default(world):
    arrivals = Arrivals(world, _MANY, seed=7, prefix="plain", how=PLAIN, nodeSelector={POOL: FAKE})
    arrivals.come()
    end = time.monotonic() + _DEADLINE_S + 15.0
    world.until(lambda: arrivals.step() or time.monotonic() > end, "their deadline passes")
    half = [name for name in world.lives.half_past(_DEADLINE_S) if name.startswith("plain")]
    arrivals.clear()
    return len(half)


def _over_by_hand(world):
    before, (node, gpu) = set(world.judge.found), fake_gpus_of(world)[0]
    place(world, "double", [(node, gpu)] * 2)
    world.until(lambda: world.judge.found - before, "it is seen")
    world.remove("double")
    return len(world.judge.found - before)


def _untold_without_events(world):
    with world.control.without("create", "events.events.k8s.io"):
        world.create("nowhere", 8, nodeSelector={POOL: "none"}, **_OURS)
        world.until(lambda: len(world.lives.untold(_TOLD_WITHIN_S)) == 8 or world.lives.reasons("nowhere"), "they wait")
        return len(world.lives.untold(_TOLD_WITHIN_S))

"""Plays the clusters of testing.cluster.room_scenes on a real control plane, with Kubernetes' own priorities, budgets,
evictions and Jobs. KWOK plays the nodes."""

import contextlib
import time

from testing.cluster import room_scenes
from testing.cluster.gang_cluster import FAKE, POOL, SPACE, GangCluster
from testing.cluster.gangs import JOBS, indexed_job
from testing.cluster.opposed_plays import SETTINGS
from testing.cluster.rig.kwok import ENDS

_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
_BUDGETS = f"/apis/policy/v1/namespaces/{SPACE}/poddisruptionbudgets"
_APART_S = 3.0  # between the beginnings of two gangs, so that one of them is the cheaper one
MODEST = "modest"  # of the rank of "high", with preemptionPolicy: Never
_IGNORE = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}


def add_classes(world):
    """Creates the PriorityClasses of room_scenes.RANKS, and MODEST."""
    for name, value in {**room_scenes.RANKS, MODEST: room_scenes.RANKS["high"]}.items():
        world.api.create(_CLASSES, {
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
            "value": value, "preemptionPolicy": "Never" if name == MODEST else "PreemptLowerPriority"})


def exclusive_job(name, pods, gpus, rank):
    """Returns a Job whose pods share with none, of a PriorityClass."""
    return indexed_job(name, pods, gpus, nodeSelector={POOL: FAKE}, priorityClassName=rank,
                       annotations={"crossover.dev/share": "exclusive"})


def survives_evictions(job):
    """Returns the Job with pods that end as a kubelet lets them, of which an eviction is no failure."""
    job["spec"] |= {"backoffLimit": 0, "podFailurePolicy": _IGNORE}
    job["spec"]["template"]["metadata"]["annotations"][ENDS] = "true"
    return job


def keep(world, name, pods):
    """Creates a disruption budget that allows the eviction of none of a Job's pods."""
    world.api.create(_BUDGETS, {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {"minAvailable": pods, "selector": {"matchLabels": {"job-name": name}}}})


def let_leave(world, name):
    """Deletes the budget."""
    world.api.delete(f"{_BUDGETS}/{name}")


@contextlib.contextmanager
def room_cluster(build):
    """Provides a GangCluster for scenes, with the PriorityClasses that they name."""
    with GangCluster(build, room_scenes.NODES, room_scenes.GPUS, control={"settings": SETTINGS}) as world:
        add_classes(world)
        yield world


def play(world, scene):
    """Plays a scene and returns its Found. All that it made is gone afterwards."""
    names = []
    try:
        for gang in scene.gangs:
            _create(world, gang, gang.rank)
            names.append(gang.name)
            world.until_whole(gang.name)
            since = world.lives.life(gang.name).whole_since
            world.until(lambda since=since: time.monotonic() - since >= _APART_S, "the next gang begins later")
        now = time.monotonic()
        found = room_scenes.Found({gang.name: _places(world, gang) for gang in scene.gangs},
                                  {gang.name: now - world.lives.life(gang.name).whole_since for gang in scene.gangs})
        before = {gang.name: _bound(world, gang.name) for gang in scene.gangs}
        newcomer = scene.newcomer.name
        _create(world, scene.newcomer, scene.newcomer.rank if scene.preempts else MODEST)
        names.append(newcomer)
        if room_scenes.best(scene, found):
            world.until_whole(newcomer)
        else:
            world.until(lambda: world.lives.reasons(newcomer), f"{newcomer} is told why it waits")
        found.placed = world.lives.whole(newcomer)
        found.left = {name: len(uids - _bound(world, name)) for name, uids in before.items()}
        return found
    finally:
        world.end(*names)
        for gang in scene.gangs:
            if gang.budget:
                let_leave(world, gang.name)
        world.until(lambda: not world.lives.pods(*names), "the pods of the scene are gone")


def _create(world, gang, rank):
    world.lives.expect(gang.name, gang.pods)
    if gang.budget:
        keep(world, gang.name, gang.pods)
    world.api.create(JOBS.format(SPACE), survives_evictions(exclusive_job(gang.name, gang.pods, gang.gpus, rank)))


def _places(world, gang):
    """Returns how many GPUs a gang has on each node, by the node's number."""
    places = {}
    for node, gpus in world.lives.life(gang.name).bound.values():
        number = world.nodes.index(node)
        places[number] = places.get(number, 0) + len(gpus)
    return places


def _bound(world, name):
    return {pod["metadata"]["uid"] for pod in world.lives.pods(name)
            if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]}

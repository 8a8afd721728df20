"""added_start_ms measures how much later a pod with a slot runs than a plain pod of the same image. The time of a pod
goes from the request that creates it to the event by which the API server says that it runs. The figure is the
difference of the 95th percentiles. The two kinds come in random order, with nothing else on the node.
added_start_ms_beside is the difference of the medians.

Control: a daemon that is told of another node's pods. It waits in vain for the pod that is to have the slot, for as
long as it ever waits.
"""

import json
import queue
import random
import time

from benchmarks.cluster import cluster
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats
from testing.cluster.pods import restricted, with_slots
from testing.cluster.rig.api import Watch
from testing.machine import Machine
from testing.processes import Failed

GOAL = Goal("<=", 50.0)
CASES = ("idle",)
_MACHINE = Machine(nodes=1, gpus_per_node=2)
_IMAGE = "crossover.test/sleep:1"
_PODS, _OF_THE_CONTROL, _WARM_UP = 40, 20, 3  # of each kind
_PAUSE_S = (0.5, 1.5)
_PATIENCE_S = 30.0


def measure(context, case):
    with cluster.running(context.build, _MACHINE) as running:
        running.cluster.image_of(_IMAGE, {"/bin/sleep": "/bin/sleep"})
        with _Starts(running) as starts:
            starts.take(_WARM_UP, _WARM_UP)
            slot, plain = starts.take(_PODS, _PODS)
            context.say(f"    with a slot {stats.summary(slot)}, plain {stats.summary(plain)}")
            running.daemons.end_on(0)
            running.daemons.start_on(0, name="another-node")
            running.cluster.wait_for("node", running.cluster.nodes[0].name,
                                     lambda node: cluster.allocatable(node) == running.daemons.slots)
            starts.take(_WARM_UP, 0)
            late, _ = starts.take(_OF_THE_CONTROL, 0)
    plain_p95 = stats.percentile(plain, 95)
    condition = (f"{_PODS} pods of each kind one at a time in random order, on a cluster of one node with nothing else "
                 "on it; placed by the default scheduler")
    yield Measured("added_start_ms", case, stats.percentile(slot, 95) - plain_p95, "ms at p95", GOAL, tuple(slot),
                   controlled(GOAL, "a daemon that waits in vain for the pod", stats.percentile(late, 95) - plain_p95),
                   condition, {"plain": [round(ms, 1) for ms in plain], "control": [round(ms, 1) for ms in late]})
    yield Measured("added_start_ms_beside", case, stats.median(slot) - stats.median(plain), "ms at the median", Goal(),
                   (stats.median(slot), stats.median(plain)), None, condition)


class _Starts:
    """Starts pods one after the other. Each pod is gone before the next one starts."""

    def __init__(self, running):
        self._running, self._draw, self._number = running, random.Random(1), 0
        self._events = queue.Queue()

    def __enter__(self):
        self._watch = Watch(self._running.cluster.api(), cluster.PODS, lambda *event: self._events.put(event))
        return self

    def __exit__(self, *exc):
        self._watch.__exit__(*exc)

    def take(self, slots, plain):
        """Starts `slots` pods with a slot and `plain` pods without one. Returns their times in ms, as two lists."""
        kinds = [True] * slots + [False] * plain
        self._draw.shuffle(kinds)
        taken = {True: [], False: []}
        for with_slot in kinds:
            time.sleep(self._draw.uniform(*_PAUSE_S))
            taken[with_slot].append(self._one(with_slot))
        return taken[True], taken[False]

    def _one(self, with_slot):
        self._number += 1
        pod = self._pod(f"pod-{self._number}", with_slot)
        began = time.monotonic()
        self._running.api.create(cluster.PODS, pod)
        ran = self._await("the pod runs", lambda kind, seen: seen["status"].get("phase") == "Running")
        self._running.api.delete(f"{cluster.PODS}/pod-{self._number}")
        self._await("the pod is gone", lambda kind, seen: kind == "DELETED")
        return (ran - began) * 1e3

    def _pod(self, name, with_slot):
        node = self._running.cluster.nodes[0].name
        if not with_slot:
            return restricted(name, _IMAGE, ["/bin/sleep", "1000"], node)
        pod = with_slots(name, _IMAGE, ["/bin/sleep", "1000"], node)
        assignment = {"containers": {"main": [self._draw.choice(self._running.gpus.uuids(0))]}}
        pod["metadata"]["annotations"] = {"crossover.dev/assignment": json.dumps(assignment)}
        return pod

    def _await(self, what, condition):
        """Waits for an event that meets `condition`, and returns the time at which it came (s, monotonic clock). Raises
        Failed where the pod fails or the event does not come in time."""
        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                when, kind, seen = self._events.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise Failed(f"{what}: not within {_PATIENCE_S:.0f} s") from None
            if kind == "ERROR" or seen["status"].get("phase") == "Failed":
                raise Failed(f"{what}: {seen.get('message') or seen['status']}")
            if condition(kind, seen):
                return when

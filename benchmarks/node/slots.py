"""Finds when all slots of a cluster's nodes are present, and whether pods can have all of them."""

import contextlib
import threading
import time

from benchmarks.cluster.cluster import PODS, allocatable
from benchmarks.node.checkpoint import devices
from testing.cluster.pods import SLOT, with_slots
from testing.processes import Failed

STATUS_INTERVAL_S = 1.0  # of the kubelets: testing/cluster/rig/configuration.py
_SETTLED_S = 2.5 * STATUS_INTERVAL_S  # after this time no older status is shown
_PATIENCE_S = 60.0
_FILLED_WITHIN_S = 20.0


class Slots:
    """Records when the slots of each node were all present, and when not. A watch feeds it."""

    def __init__(self, full):
        self._full = full
        self._changes = {}  # by node: (when, slots)
        self._broken = ""
        self._changed = threading.Condition()

    def on_event(self, when, kind, node):
        with self._changed:
            if kind == "ERROR":
                self._broken = str(node)
            else:
                changes = self._changes.setdefault(node["metadata"]["name"], [])
                if not changes or changes[-1][1] != allocatable(node):
                    changes.append((when, allocatable(node)))
            self._changed.notify_all()

    def await_count(self, node, count):
        with self._changed:
            if not self._changed.wait_for(lambda: self._changes[node][-1][1] == count, _PATIENCE_S):
                raise Failed(f"{node} has {self._changes[node][-1][1]} slots after {_PATIENCE_S:.0f} s, not {count}")

    def back_after_s(self, node, began, up):
        """Returns the seconds from `up` until the slots that something took away after `began` were all back and
        stayed. Returns 0 if the API never showed them missing, or only before. Waits for that."""
        end = up + _PATIENCE_S
        while True:
            with self._changed:
                when, slots = self._changes[node][-1]
                if self._broken or time.monotonic() > end:
                    raise Failed(self._broken or f"{node} has {slots} slots {_PATIENCE_S:.0f} s later")
                settled = max(when, up) + _SETTLED_S
                if slots == self._full and time.monotonic() >= settled:
                    return max(0.0, when - up) if when > began else 0.0
                self._changed.wait(max(0.01, min(settled - time.monotonic(), 1.0)))


def leaked(running, pods, image):
    """Returns how many slots of the cluster as many pods could not have at once, or two pods had. REQUIRES: no pod is
    there. The pods stay."""
    total = running.daemons.slots
    for node in running.cluster.nodes:
        for number in range(total):
            pod = with_slots(f"fills-{node.name}-{number}", image, ["/bin/sleep", "10000"], node.name)
            running.api.create(PODS, pod)
    wanted = total * len(running.cluster.nodes)
    with contextlib.suppress(Failed):  # that is what this finds out
        pods.await_that(lambda seen: sum(pod.ran and not pod.over for pod in seen) >= wanted, "every slot has a pod",
                        _FILLED_WITHIN_S)
    run = {pod["metadata"]["uid"] for pod in running.api.get(PODS)["items"] if pod["status"]["phase"] == "Running"}
    return wanted - sum(len(_held(node, run)) for node in running.cluster.nodes)


def _held(node, uids):
    """Returns the IDs of the slots that the kubelet of a node has given to pods."""
    return {device for _, resource, device in devices(node, uids) if resource == SLOT}

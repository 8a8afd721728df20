"""Finds GPUs that were given to two owners at once, by what the kubelets have written down."""

import contextlib
import threading
import time
from collections import defaultdict

from benchmarks.node import checkpoint
from testing.cluster.pods import SLOT
from testing.cluster.rig.api import Watch

_ALL_PODS = "/api/v1/pods"
_EVERY_S = 0.1
_STAYS_S = 1.0  # after this time the API no longer shows a pod that has ended


class Ownership:
    """Looks at all nodes of a cluster while its context lasts. `twice` returns what was found, in words."""

    def __init__(self, cluster, slots_per_gpu):
        self._cluster, self._slots_per_gpu = cluster, slots_per_gpu
        self._living, self._broken = set(), ""  # UIDs of pods that exist and have not ended
        self._since = {}  # fault -> since when it has been there
        self._twice, self._looks = set(), 0
        self._lock, self._ending = threading.Lock(), threading.Event()

    @property
    def twice(self):
        with self._lock:
            if self._broken or not self._looks:
                raise RuntimeError(self._broken or "no round has looked")
            return sorted(self._twice)

    def await_one(self, patience_s):
        """Waits until a GPU with two owners is found, but no longer than `patience_s`."""
        end = time.monotonic() + patience_s
        while not self.twice and time.monotonic() < end:
            self._ending.wait(_EVERY_S)
        return self.twice

    @contextlib.contextmanager
    def watching(self):
        thread = threading.Thread(target=self._look_on, daemon=True)
        with Watch(self._cluster.api(), _ALL_PODS, self._on_event):
            thread.start()
            try:
                yield self
            finally:
                self._ending.set()
                thread.join()

    def _on_event(self, _when, kind, pod):
        with self._lock:
            if kind == "ERROR":
                self._broken = str(pod)
            elif kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed"):
                self._living.discard(pod["metadata"]["uid"])
            else:
                self._living.add(pod["metadata"]["uid"])

    def _look_on(self):
        try:
            while not self._ending.wait(_EVERY_S):
                self._look()
        except (OSError, ValueError, KeyError) as fault:
            with self._lock:
                self._broken = f"a kubelet's checkpoint: {fault!r}"

    def _look(self):
        """Records what is wrong once it has been so for some time."""
        with self._lock:
            living = set(self._living)
        now, amiss = time.monotonic(), set()
        for node in self._cluster.nodes:
            found = faults(checkpoint.devices(node, living), self._slots_per_gpu)
            amiss |= {f"{node.name}: {fault}" for fault in found}
        self._since = {fault: self._since.get(fault, now) for fault in amiss}
        with self._lock:
            self._looks += 1
            self._twice |= {fault for fault, since in self._since.items() if now - since >= _STAYS_S}


def faults(entries, slots_per_gpu):
    """Yields a text for each GPU of one node that has two owners, or more pods than slots. `entries` are (pod,
    resource, device ID)."""
    pods, others, devices = defaultdict(set), defaultdict(set), defaultdict(set)
    for pod, resource, device in entries:
        devices[resource, device].add(pod)
        if resource == SLOT:
            pods[device.split("::")[0]].add(pod)
    for pod, resource, device in entries:
        if resource != SLOT:
            for gpu in (gpu for gpu in pods if gpu in device):
                others[gpu].add(f"{resource} of pod {pod}")
    for gpu, owners in others.items():
        yield f"{gpu} is {' and '.join(sorted(owners))}, and has slots given out"
    for gpu, owners in pods.items():
        if len(owners) > slots_per_gpu:
            yield f"{gpu} has {len(owners)} pods, of {slots_per_gpu} slots"
    for (resource, device), owners in devices.items():
        if len(owners) > 1:
            yield f"{resource} {device} is had by {len(owners)} pods"

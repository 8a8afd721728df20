"""Records what becomes of gangs, from the events of watches: which pods were bound where, how long a gang was bound
only in part, and whether pods that waited were told why. It sends no requests itself.
"""

import json
import threading
import time
from dataclasses import dataclass, field

from testing.cluster.gpu_judge import ASSIGNMENT

RESERVATION = "crossover.dev/reservation"
TOLD = "GangWaits"  # the reason of the extender's events
_JOB = "batch.kubernetes.io/job-name"


def job_of(pod):
    return pod["metadata"].get("labels", {}).get(_JOB, "")


@dataclass
class Life:
    """Records the pods of one gang. Seconds are of the clock that its events come with."""

    size: int
    bound: dict = field(default_factory=dict)  # {pod: (node, GPUs)}, of all pods that it ever had
    nominated: dict = field(default_factory=dict)  # {pod: the node that schedulers try first}, before it is bound
    here: set = field(default_factory=set)  # UIDs of its pods that are bound and not deleted
    whole_since: float = None
    half_since: float = None
    halves: list = field(default_factory=list)  # s, each time that the gang was bound in part

    def looks(self, when):
        """Takes note that its pods have changed. Once the gang was whole, a lost pod does not count as half a gang: it
        is replaced."""
        if self.whole_since is not None:
            return
        half = 0 < len(self.here) < self.size
        if half and self.half_since is None:
            self.half_since = when
        elif not half and self.half_since is not None:
            self.halves.append(when - self.half_since)
            self.half_since = None
        if len(self.here) >= self.size:
            self.whole_since = when

    def longest_half_s(self, now):
        return max(self.halves + ([now - self.half_since] if self.half_since is not None else []), default=0.0)

    @property
    def gpus(self):
        return sorted(gpu for _, gpus in self.bound.values() for gpu in gpus)


@dataclass
class _Wait:
    since: float
    until: float = None  # when the pod was bound or deleted
    told: str = ""


class GangLives:
    """Records the gangs of one namespace. Call `expect` before a gang's first pod is created."""

    def __init__(self):
        self._lock = threading.RLock()
        self._lives, self._pods, self._waits = {}, {}, {}
        self.broken = ""  # why a watch has ended, or ""

    def expect(self, name, size):
        with self._lock:
            self._lives[name] = Life(size)

    def life(self, name):
        return self._lives[name]

    def on_pod(self, when, kind, pod):
        with self._lock:
            if kind == "ERROR":
                self.broken = str(pod)
            elif job_of(pod) in self._lives:
                self._note(when, kind, pod)

    def on_event(self, when, kind, event):
        """Takes an object of Kubernetes' own kind Event."""
        with self._lock:
            if kind == "ERROR":
                self.broken = str(event)
            elif event.get("reason") == TOLD and event.get("message"):
                uid = event["involvedObject"].get("uid", "")
                self._waits.setdefault(uid, _Wait(when)).told = event["message"]

    def pods(self, *jobs):
        """Returns the pods that exist now, of some gangs or of all."""
        with self._lock:
            return [pod for pod in self._pods.values() if not jobs or job_of(pod) in jobs]

    def whole(self, name):
        """Tells whether all pods of a gang exist now and are bound."""
        with self._lock:
            return len(self._lives[name].here) >= self._lives[name].size

    def was_whole(self, name):
        return self._lives[name].whole_since is not None

    def waiting(self):
        """Returns the names of the pods that are not bound."""
        with self._lock:
            return {pod["metadata"]["name"] for pod in self._pods.values() if not pod["spec"].get("nodeName")}

    def reasons(self, job):
        """Returns the latest reason for waiting that each pod of a gang was told. Only pods that still exist count."""
        with self._lock:
            return {self._waits[pod["metadata"]["uid"]].told for pod in self.pods(job)} - {""}

    def untold(self, within_s=0.0):
        """Returns the names of pods that are not bound, have waited for longer than this, and were never told why."""
        now = time.monotonic()
        with self._lock:
            return {pod["metadata"]["name"] for uid, pod in self._pods.items()
                    if self._waits[uid].until is None and not self._waits[uid].told
                    and now - self._waits[uid].since > within_s}

    def waited_untold(self, within_s):
        """Returns two counts of all pods that ever waited for longer than this: those never told why, and all of
        them."""
        now = time.monotonic()
        with self._lock:
            long = [wait for wait in self._waits.values() if (wait.until or now) - wait.since > within_s]
        return sum(not wait.told for wait in long), len(long)

    def half_past(self, deadline_s):
        """Returns the names of gangs that were bound in part for longer than this."""
        now = time.monotonic()
        with self._lock:
            return sorted(name for name, life in self._lives.items() if life.longest_half_s(now) > deadline_s)

    def reserved(self):
        """Returns the names of pods that have a reservation and are not bound."""
        with self._lock:
            return {pod["metadata"]["name"] for pod in self._pods.values()
                    if not pod["spec"].get("nodeName") and RESERVATION in pod["metadata"].get("annotations", {})}

    def _note(self, when, kind, pod):
        metadata, life = pod["metadata"], self._lives[job_of(pod)]
        uid, node = metadata["uid"], pod.get("spec", {}).get("nodeName")
        wait = self._waits.setdefault(uid, _Wait(when))
        gone = kind == "DELETED"
        if (gone or node) and wait.until is None:
            wait.until = when
        if gone:
            self._pods.pop(uid, None)
            life.here.discard(uid)
        else:
            self._pods[uid] = pod
        if not node and pod.get("status", {}).get("nominatedNodeName"):
            life.nominated[metadata["name"]] = pod["status"]["nominatedNodeName"]
        if node and not gone:
            assignment = metadata.get("annotations", {}).get(ASSIGNMENT)
            gpus = json.loads(assignment)["containers"]["main"] if assignment else []
            life.bound[metadata["name"]] = (node, tuple(gpus))
            life.here.add(uid)
        life.looks(when)

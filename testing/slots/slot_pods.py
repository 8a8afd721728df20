"""Makes pods that ask for slots of one node, and decides which GPUs each of their containers must get. Pure, with a
seed.

A kubelet first gives a container the devices that plain init containers of its pod had. If these are more than the
container asks for, it picks at random and asks no plugin. So the GPUs are chosen such that there is no choice: a
container gets all devices that the init containers before it leave.
"""

import json
import random
import time
import uuid
from dataclasses import dataclass

from testing.cluster.pods import SLOT as RESOURCE

ASSIGNMENT = "crossover.dev/assignment"
NAMESPACE = "team"
INIT, SIDECAR, MAIN = "init", "sidecar", "main"
MIXED = ((1, 1, 1, 2, 2, 4), True)
PAIRS = ((2,), False)


@dataclass(frozen=True)
class Container:
    name: str
    kind: str  # INIT, SIDECAR or MAIN
    gpus: tuple  # UUIDs, sorted

    def manifest(self):
        made = {"name": self.name, "image": "none", "resources": {"limits": {RESOURCE: str(len(self.gpus))}}}
        return {**made, "restartPolicy": "Always"} if self.kind == SIDECAR else made


@dataclass(frozen=True)
class Pod:
    number: int
    created: int  # seconds, the resolution of API servers
    containers: tuple  # in the order in which a kubelet asks for their devices

    @property
    def uid(self):
        return str(uuid.UUID(int=self.number))

    @property
    def name(self):
        return f"pod-{self.number}"

    @property
    def lasting(self):
        """The containers that run as long as the pod."""
        return [container for container in self.containers if container.kind != INIT]

    def manifest(self, phase="Pending"):
        assignment = {"containers": {c.name: c.gpus for c in self.containers}}
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.created))
        return {"apiVersion": "v1", "kind": "Pod", "status": {"phase": phase},
                "metadata": {"name": self.name, "namespace": NAMESPACE, "uid": self.uid, "creationTimestamp": created,
                             "annotations": {ASSIGNMENT: json.dumps(assignment)},
                             "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": self.name,
                                                  "uid": self.uid, "controller": True}]},
                "spec": {"nodeName": "node",
                         "initContainers": [c.manifest() for c in self.containers if c.kind != MAIN],
                         "containers": [c.manifest() for c in self.containers if c.kind == MAIN]}}


class Planner:
    """Assigns each slot once. `sizes` are the numbers of GPUs of containers, all equally likely. With `complex_pods`
    some pods have several containers, init containers and sidecars."""

    def __init__(self, gpus, slots, seed, sizes=MIXED[0], complex_pods=MIXED[1]):
        self._free = dict.fromkeys(gpus, slots)
        self._draw = random.Random(seed)
        self._sizes, self._complex = sizes, complex_pods
        self._planned = 0

    def plan(self, created):
        """Returns the next pod, or None if it does not fit."""
        left = dict(self._free)
        containers, handed_on = [], set()
        for number, kind in enumerate(self._kinds()):
            size = max(self._draw.choice(self._sizes), len(handed_on))
            gpus = self._choose(size, handed_on, left)
            if gpus is None:
                return None
            for gpu in gpus - handed_on:
                left[gpu] -= 1
            handed_on = gpus if kind == INIT else set()
            containers.append(Container(f"{kind}-{number}", kind, tuple(sorted(gpus))))
        self._free = left
        self._planned += 1
        return Pod(self._planned, created, tuple(containers))

    def free(self, pod):
        """Takes back what a pod had."""
        for container in pod.lasting:
            for gpu in container.gpus:
                self._free[gpu] += 1

    def _kinds(self):
        if not self._complex or self._draw.random() < 0.5:
            return [MAIN]
        first = [self._draw.choice((INIT, INIT, SIDECAR)) for _ in range(self._draw.randrange(3))]
        return first + [MAIN] * self._draw.randrange(1, 4)

    def _choose(self, size, wanted, left):
        others = [gpu for gpu, slots in left.items() if slots > 0 and gpu not in wanted]
        if len(others) < size - len(wanted):
            return None
        return wanted | set(self._draw.sample(others, size - len(wanted)))


def gpus_of(ids):
    """Returns the GPU UUIDs of device IDs, one for each ID."""
    return tuple(sorted(each.split("::")[0] for each in ids))

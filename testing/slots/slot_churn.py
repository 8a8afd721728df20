"""Sends pods to a SlotNode in bursts. They are admitted one after the other and end. Compares what their containers
got with what they were assigned."""

import random
import time
from dataclasses import dataclass

from testing.processes import Failed
from testing.slots.slot_pods import MIXED, RESOURCE, Planner, gpus_of
from testing.slots.slot_tally import Tally

_LARGEST_BURST = 6
_PATIENCE_S = 60.0
# The longest delay between what the kubelet knows and what the daemon has heard of it, in both directions.
_LONGEST_LAG_S = 0.04
_LONGEST_GATED_S = 300  # pods may have been created so long before they are bound


@dataclass(frozen=True)
class Habits:
    """With `any_order`, pods are bound in another order than they were created in. With `late_endings`, pods end
    while others are admitted, and the kubelet knows it first, as in reality. Otherwise all parts know it before the
    next pods come."""

    kind: tuple = MIXED
    any_order: bool = False
    late_endings: bool = False


@dataclass
class Running:
    pod: object
    ids: dict  # by container

    @property
    def all_ids(self):
        return {each for ids in self.ids.values() for each in ids}


class Churn:
    """`alive` has the running pods by UID. `pending` has pods that the kubelet knows and has not judged yet."""

    def __init__(self, node, seed, habits=Habits()):
        self.node, self.habits = node, habits
        self.draw = random.Random(seed)
        self.tally = Tally()
        self.alive, self.pending = {}, {}
        self._planner = Planner(node.gpus, node.slots_per_gpu, seed, *habits.kind)
        self._endings = False
        self._doomed = set()  # UIDs of pending pods that the API server no longer has
        self._freed = []  # pods whose end not all parts have heard of yet
        # UIDs of pods that have ended and that the API server still has.
        self._over = []

    def burst(self, most, during=lambda: None, endings=True):
        """Lets up to `most` pods come at once, and calls `during` while they are admitted. With `endings`, other pods
        may end meanwhile, if the habits allow it."""
        self._endings = endings and self.habits.late_endings
        planned = self._plan(min(most, self.draw.randint(1, _LARGEST_BURST)))
        self.tally.largest_burst = max(self.tally.largest_burst, len(planned))
        self._tell(planned)
        during()
        self._collect()
        self._settle(full=len(planned) < 2)

    def end(self, uid, amid=False):
        """Ends a pod that has done its work. `amid` means while the kubelet allocates devices, at the worst moment."""
        pod = self.alive.pop(uid).pod
        if amid:
            self.node.manager.end_amid(uid, RESOURCE)
        else:
            self.node.manager.end(uid)
        lag = self.draw.uniform(0, _LONGEST_LAG_S)
        if self.draw.random() < 0.5:
            self.node.pods.delete(uid, lag)
        else:
            self.node.pods.put(pod.manifest("Succeeded"), lag)
            self._over.append(uid)
        self._freed.append(pod)

    def doom(self, uid):
        """Deletes a pod before the kubelet has judged it."""
        self._doomed.add(uid)
        self.node.pods.delete(uid, self.draw.uniform(0, _LONGEST_LAG_S))
        self.node.manager.end(uid)

    def restart_kubelet(self):
        """Kills the kubelet and starts it again. It gets all pods anew, those that run and those that it was
        admitting, in the order in which they were created."""
        lasting = [(uid, c.name) for uid, running in self.alive.items() for c in running.pod.lasting]
        self.node.manager.kill()
        self.node.start_manager(lasting)
        there = [running.pod for running in self.alive.values()] + list(self.pending.values())
        for pod in sorted(there, key=lambda pod: pod.created):
            self.node.manager.admit(pod.manifest())
        self.node.manager.synced()
        for uid in list(self.alive):
            self._judge_again(self.node.manager.verdict(uid, _PATIENCE_S))

    def _judge_again(self, verdict):
        """A running pod goes on with what it has, unless the kubelet does not accept it again."""
        running = self.alive[verdict["pod"]]
        if "rejected" in verdict:
            self.tally.rejected[verdict["rejected"]] += 1
            self._fail(self.alive.pop(verdict["pod"]).pod)
            return
        for container in running.pod.lasting:
            if tuple(verdict["containers"][container.name]["ids"]) != running.ids[container.name]:
                raise Failed(f"{running.pod.name}/{container.name} has other IDs since the kubelet started anew")

    def _plan(self, count):
        now = int(time.time())
        planned = []
        while len(planned) < count:
            ago = self.draw.randint(0, _LONGEST_GATED_S) if self.habits.any_order else 0
            pod = self._planner.plan(now - ago)
            if pod is None:
                break
            planned.append(pod)
        return planned

    def _tell(self, planned):
        """Watches report the pods to the kubelet and to the daemon in the same order, each at its own speed."""
        first = self.draw.choice(("kubelet", "daemon", "neither"))
        self.pending = {pod.uid: pod for pod in planned}
        for pod in planned:
            lag = self.draw.uniform(0, _LONGEST_LAG_S) if first == "kubelet" else 0.0
            self.node.pods.put(pod.manifest(), lag)
            if first != "daemon":
                self._admit(pod)
        if first == "daemon":
            time.sleep(self.draw.uniform(0, _LONGEST_LAG_S))
            for pod in planned:
                self._admit(pod)

    def _admit(self, pod):
        self.node.manager.admit(pod.manifest())
        if self._endings and self.alive and self.draw.random() < 0.3:
            self.end(self.draw.choice(sorted(self.alive)))

    def _collect(self):
        for uid in list(self.pending):
            self._judge(self.node.manager.verdict(uid, _PATIENCE_S))

    def _judge(self, verdict):
        """Handles the verdict on a pod: admitted or rejected."""
        pod = self.pending[verdict["pod"]]
        self.tally.add(pod, verdict)
        if pod.uid in self._doomed:
            self._doomed.discard(pod.uid)
            self._freed.append(self.pending.pop(pod.uid))
            return
        if "rejected" in verdict:
            self._fail(pod)
            return
        given = verdict["containers"]
        for name, each in given.items():
            told = tuple(sorted(device.rsplit("=")[-1] for device in each["devices"]))
            if told != gpus_of(each["ids"]):
                raise Failed(f"{pod.name}/{name} has {each['ids']} and the runtime was told {each['devices']}")
        del self.pending[pod.uid]
        self.alive[pod.uid] = Running(pod, {name: tuple(each["ids"]) for name, each in given.items()})
        self.node.pods.put(pod.manifest("Running"))

    def _fail(self, pod):
        """Handles a pod that the kubelet rejected."""
        self.pending.pop(pod.uid, None)
        self.node.pods.put(pod.manifest("Failed"), self.draw.uniform(0, _LONGEST_LAG_S))
        self._over.append(pod.uid)
        self._freed.append(pod)

    def _settle(self, full):
        """Ends some pods after a burst. Pods whose end is known leave room for others."""
        if full or not self.habits.late_endings:
            share = 0.5 if full else 0.15
            for uid in sorted(self.alive):
                if self.draw.random() < share:
                    self.end(uid)
        for uid in self._over:
            self.node.pods.delete(uid)
        self._over = []
        if not self.habits.late_endings:
            self.node.wait_for_pods(len(self.alive))
        for pod in self._freed:
            self._planner.free(pod)
        self._freed = []

"""Plays faults during a Churn: pods die at any moment, a daemon and a kubelet are killed, and a kubelet gives one ID
to two pods. Audits compare the truth with what the daemon reports.

A kubelet forgets the devices that it is allocating when a client lists the pods' resources after a pod has ended. The
next pod may then get the same devices. Here both happen while it allocates.
"""

import time
from collections import Counter
from dataclasses import dataclass, field

from testing.slots.slot_churn import Churn
from testing.slots.slot_pods import gpus_of

DOUBLES, DRIFTS = "crossover_slot_doubles", "crossover_assignment_drifts"
_LONGEST_WAIT_S = 0.008  # about as long as the admission of two pods
_PATIENCE_S = 5.0  # for the daemon to report the truth: it compares once a second
_LOOK_S = 0.05
_KINDS = (*["deaths"] * 8, *["none"] * 3, "unborn", "unborn", "daemon", "kubelet", "both")


@dataclass
class Findings:
    """Counts over all audits. Doubles are IDs that two live pods held; some of them the daemon did not count or name,
    or it deleted no pod for them. Drifts are containers that had other GPUs than assigned; some of them it did not
    count. False alarms are what it counted too much. `provoked` is by kind."""

    audits: int = 0
    doubles: int = 0
    unnamed_doubles: int = 0
    unmended_doubles: int = 0
    drifts: int = 0
    uncounted_drifts: int = 0
    false_alarms: int = 0
    provoked: Counter = field(default_factory=Counter)

    def remarks(self):
        return {**vars(self), "provoked": dict(self.provoked)}


class FaultyChurn:
    def __init__(self, node, seed, habits):
        self.node = node
        self.churn = Churn(node, seed, habits)
        self.findings = Findings()
        self._draw = self.churn.draw

    def burst(self, most):
        kind = self._draw.choice(_KINDS)
        self.findings.provoked[kind] += 1
        during = {"none": lambda: None, "deaths": self._deaths, "unborn": self._unborn}
        self.churn.burst(most, during.get(kind, lambda: self._restart(kind)), kind != "deaths")
        if self._draw.random() < 0.9:  # else the next pods come while something is down
            self.node.wait_until_served()

    def audit(self):
        """Waits until the daemon reports the truth, or has had its time. Then counts the findings."""
        self.node.wait_until_served()
        doubles, drifts = doubles_of(self.churn.alive), drifts_of(self.churn.alive)
        end = time.monotonic() + _PATIENCE_S
        while not self._agrees(doubles, drifts) and time.monotonic() < end:
            time.sleep(_LOOK_S)
        metrics, said = self.node.metrics(), self.node.said()
        counted = metrics.get(DOUBLES, 0)
        named = sum(each in said for each in doubles)
        found = self.findings
        found.audits += 1
        found.doubles += len(doubles)
        found.unmended_doubles += sum(not self._mended(each) for each in doubles)
        found.unnamed_doubles += int(max(0, len(doubles) - min(counted, named)))
        found.drifts += drifts
        found.uncounted_drifts += int(max(0, drifts - metrics.get(DRIFTS, 0)))
        found.false_alarms += int(max(0, counted - len(doubles)) + max(0, metrics.get(DRIFTS, 0) - drifts))
        for uid in [uid for uid, running in self.churn.alive.items() if running.pod.name in self.node.pods.unwanted]:
            self.churn.end(uid)

    def _agrees(self, doubles, drifts):
        metrics, said = self.node.metrics(), self.node.said()
        return (metrics.get(DOUBLES) == len(doubles) and metrics.get(DRIFTS) == drifts
                and all(each in said and self._mended(each) for each in doubles))

    def _mended(self, twice):
        """Returns whether the daemon has asked to delete one of the pods that have the ID."""
        unwanted = self.node.pods.unwanted
        return any(running.pod.name in unwanted for running in self.churn.alive.values() if twice in running.all_ids)

    def _deaths(self):
        """Ends one pod while devices are allocated, and no other: the kubelet would remember."""
        for uid in self._some(self.churn.alive, 1):
            time.sleep(self._draw.uniform(0, _LONGEST_WAIT_S))
            self.churn.end(uid, amid=True)

    def _unborn(self):
        """Deletes pods while they are admitted, or before."""
        for uid in self._some(self.churn.pending, 3):
            self.churn.doom(uid)

    def _restart(self, kind):
        time.sleep(self._draw.uniform(0, _LONGEST_WAIT_S))
        if kind in ("daemon", "both"):
            self.node.kill_daemon()
        if kind in ("kubelet", "both"):
            self.churn.restart_kubelet()
        if kind in ("daemon", "both"):
            self.node.start_daemon()

    def _some(self, uids, most):
        uids = sorted(uids)
        return self._draw.sample(uids, min(len(uids), self._draw.randint(1, most)))


def doubles_of(alive):
    """Returns the IDs that more than one pod holds. `alive` is that of a Churn."""
    holders = Counter(each for running in alive.values() for each in running.all_ids)
    return sorted(each for each, count in holders.items() if count > 1)


def drifts_of(alive):
    """Returns how many containers have other GPUs than they were assigned."""
    return sum(sorted(set(gpus_of(running.ids[container.name]))) != sorted(container.gpus)
               for running in alive.values() for container in running.pod.containers)

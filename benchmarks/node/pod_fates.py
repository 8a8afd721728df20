"""Follows pods by the events of the API server, and finds which ones were lost."""

import threading
from dataclasses import dataclass, field

from testing.processes import Failed

_PATIENCE_S = 90.0
_NOT_STARTED = "StartError"  # for example because its kubelet ended meanwhile


@dataclass
class _Seen:
    """A pod, as far as events have shown it."""

    name: str
    owner: str
    since: float
    node: str = ""
    ran: bool = False
    over: bool = False
    told: set = field(default_factory=set)  # True: reported as lost; False: reported as rejected


class PodFates:
    """Records what happened to the pods of the namespace. A watch feeds it."""

    def __init__(self):
        self.lost, self.turned_down = [], []  # in words
        self._pods, self._let_go, self._broken = {}, set(), ""
        self._changed = threading.Condition()

    def on_event(self, when, kind, pod):
        with self._changed:
            if kind == "ERROR":
                self._broken = str(pod)
            else:
                self._note(when, kind, pod)
            self._changed.notify_all()

    def let_go(self, name):
        """Says that the caller is about to end a pod, or the pods of an owner, with this name."""
        with self._changed:
            self._let_go.add(name)

    def blame(self, what):
        with self._changed:
            self.lost.append(what)

    def names(self, wanted):
        """Returns the names of the pods for which `wanted` is true."""
        with self._changed:
            return sorted(pod.name for pod in self._pods.values() if wanted(pod))

    def await_that(self, condition, what, patience_s=_PATIENCE_S):
        """Waits until `condition` is true for the list of pods. Raises Failed if it never is."""
        with self._changed:
            met = self._changed.wait_for(lambda: self._broken or condition(list(self._pods.values())), patience_s)
            if not met or self._broken:
                raise Failed(self._broken or f"{what}: not within {patience_s:.0f} s")

    def _note(self, when, kind, pod):
        metadata, status = pod["metadata"], pod.get("status", {})
        owner = metadata.get("ownerReferences", [{}])[0].get("name", "")
        seen = self._pods.setdefault(metadata["uid"], _Seen(metadata["name"], owner, when))
        seen.node = pod["spec"].get("nodeName", "")
        seen.ran |= any(_began(each) for each in status.get("containerStatuses", []))
        seen.over = status.get("phase") in ("Succeeded", "Failed")
        ours = bool({seen.name, seen.owner} & self._let_go)
        if not ours:
            self._judge(seen, kind, status)
        if kind == "DELETED":
            del self._pods[metadata["uid"]]

    def _judge(self, seen, kind, status):
        containers = status.get("containerStatuses", [])
        anew = [each for each in containers if each.get("restartCount")]
        lost, amiss = seen.ran, ""
        if anew:
            amiss = "its container has started anew: " + _ends(anew, "lastState")
            lost = any(_reason(each, "lastState") != _NOT_STARTED for each in anew)
        if status.get("phase") == "Failed":
            lost = seen.ran
            amiss = f"{status.get('reason', 'Failed')}: {status.get('message') or _ends(containers, 'state')}"
        elif kind == "DELETED":
            amiss, lost = "vanished", seen.ran
        if amiss and lost not in seen.told:
            seen.told.add(lost)
            (self.lost if lost else self.turned_down).append(f"{seen.name} on {seen.node}: {amiss}")


def _began(container):
    """Returns whether a container has ever run, as far as the API shows. A kubelet also shows a container that it
    rejected as terminated a moment later, for a reason that it does not know."""
    reasons = {_reason(container, state) for state in ("state", "lastState")}
    return "running" in container.get("state", {}) or bool(reasons - {None, _NOT_STARTED, "ContainerStatusUnknown"})


def _reason(container, state):
    """Returns the reason of its end, or None if it has not ended."""
    return container.get(state, {}).get("terminated", {}).get("reason")


def _ends(containers, state):
    """Returns in words how containers have ended."""
    ends = [each[state]["terminated"] for each in containers if "terminated" in each.get(state, {})]
    return "; ".join(f"exit code {end['exitCode']} {end.get('reason', '')} {end.get('message', '')}" for end in ends)

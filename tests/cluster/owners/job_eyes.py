"""Records what becomes of the pods of jobs that operators make, from the events of watches. A pod belongs to a job by
its name: every operator begins pod names with the job's. It sends no requests itself.
"""

import json
import threading
from dataclasses import dataclass, field

from testing.cluster.gang_lives import RESERVATION, TOLD
from testing.cluster.gpu_judge import ASSIGNMENT

DOMAIN = "crossover.dev/"
_MANAGED = "crossover.dev/managed"


@dataclass
class Seen:
    """Records all that one pod ever had."""

    name: str
    marks: set = field(default_factory=set)  # our annotation and label keys, resources, gates and schedulers
    plans: list = field(default_factory=list)  # each plan once, in the order they came
    gates: set = field(default_factory=set)  # other controllers' gates that it still had with a reservation
    told: list = field(default_factory=list)


@dataclass(frozen=True)
class Place:
    """Says where a bound pod is."""

    uid: str
    node: str
    gpus: tuple
    plan: str


class JobEyes:
    def __init__(self):
        self._lock = threading.RLock()
        self._pods, self._seen = {}, {}  # both by pod UID
        self._told = {}  # by pod UID; events may come before the pod does

    def on_pod(self, _when, kind, pod):
        if kind == "ERROR":
            return
        with self._lock:
            uid = pod["metadata"]["uid"]
            self._pods.pop(uid, None)
            if kind != "DELETED":
                self._pods[uid] = pod
                self._note(self._seen.setdefault(uid, Seen(pod["metadata"]["name"])), pod)

    def on_event(self, _when, kind, event):
        with self._lock:
            if kind != "ERROR" and event.get("reason") == TOLD and event.get("message"):
                self._told.setdefault(event["involvedObject"].get("uid", ""), []).append(event["message"])

    def pods(self, job):
        """Returns the pods that exist and are not being deleted. "" means those of all jobs."""
        with self._lock:
            return sorted((pod for pod in self._pods.values() if _is_of(pod["metadata"]["name"], job)
                           and "deletionTimestamp" not in pod["metadata"]), key=lambda pod: pod["metadata"]["name"])

    def ever(self, job):
        """Returns the records of all pods that a job ever had."""
        with self._lock:
            return [seen for seen in self._seen.values() if _is_of(seen.name, job)]

    def places(self, job):
        """Returns {pod: Place} of those that are bound."""
        return {pod["metadata"]["name"]: _place_of(pod) for pod in self.pods(job) if pod["spec"].get("nodeName")}

    def sharing(self, job):
        """Returns the names of the pods that exist and share GPUs."""
        return {pod["metadata"]["name"] for pod in self.pods(job) if _MANAGED in pod["metadata"].get("labels", {})}

    def told(self, job):
        """Returns {pod: the latest reason it was told}. Pods that were told nothing are left out. "" means those of all
        jobs."""
        with self._lock:
            return {pod["metadata"]["name"]: self._told[pod["metadata"]["uid"]][-1] for pod in self.pods(job)
                    if pod["metadata"]["uid"] in self._told}

    @staticmethod
    def _note(seen, pod):
        metadata, spec = pod["metadata"], pod["spec"]
        keys = [*metadata.get("annotations", {}), *metadata.get("labels", {}), spec.get("schedulerName", "")]
        keys += [gate["name"] for gate in spec.get("schedulingGates", ())]
        keys += [resource for container in spec["containers"] for resource in container["resources"].get("limits", {})]
        seen.marks |= {key for key in keys if key.startswith(("crossover.dev", "crossover-"))}
        reservation = metadata.get("annotations", {}).get(RESERVATION)
        if not reservation:
            return
        plan = json.loads(reservation)["plan"]
        if plan not in seen.plans:
            seen.plans.append(plan)
        seen.gates |= {gate["name"] for gate in spec.get("schedulingGates", ()) if not gate["name"].startswith(DOMAIN)}


def _is_of(pod, job):
    return not job or pod.startswith(f"{job}-")


def _place_of(pod):
    metadata = pod["metadata"]
    marks = metadata.get("annotations", {})
    assigned = json.loads(marks[ASSIGNMENT])["containers"] if ASSIGNMENT in marks else {}
    plan = json.loads(marks[RESERVATION])["plan"] if RESERVATION in marks else ""
    return Place(metadata["uid"], pod["spec"]["nodeName"], tuple(sorted(sum(assigned.values(), []))), plan)

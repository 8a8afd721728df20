"""Creates and deletes pods with slots on every node of a cluster, and records what happens to each of them.

On each node there are pods that stay, pods of a ReplicaSet that are deleted at random, and Jobs of a second or two,
one after another. The default scheduler places them. It binds no pod to a node whose API object shows no slot. That
object may be a status interval old. A pod that is bound meanwhile to a kubelet without its plugin is rejected by that
kubelet, and its owner replaces it.
"""

import random
import threading
import time

from benchmarks.cluster.cluster import NAMESPACE, PODS
from testing.cluster.pods import with_slots
from testing.processes import Failed

IMAGE = "crossover.test/sleep:1"
STAYING, REPLACED, LANES = 2, 2, 2  # pods of each kind on a node; Jobs at a time
_REPLICA_SETS = f"/apis/apps/v1/namespaces/{NAMESPACE}/replicasets"
_JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
_PAUSE_S = (0.2, 0.6)
# A Job waits for 10 s, then 20 s, before it replaces a pod that was rejected.
_PATIENCE_S = 90.0


class Churn:
    """Runs in a thread of its own until `finish`."""

    def __init__(self, api, nodes, pods, seed):
        self._api, self._nodes, self._pods = api, nodes, pods
        self._draw = random.Random(seed)
        self._lanes = {}  # (node, lane): number of its Job
        self._failure, self._stop = None, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        """Returns once all of the first pods run."""
        for node in self._nodes:
            for number in range(STAYING):
                self._api.create(PODS, with_slots(f"stays-{node}-{number}", IMAGE, ["/bin/sleep", "10000"], node))
            self._api.create(_REPLICA_SETS, _replica_set(f"replaced-{node}", node))
            for lane in range(LANES):
                self._next_job(node, lane)
        self._pods.await_that(lambda pods: sum(pod.ran for pod in pods) >= len(self._nodes) * (STAYING + REPLACED),
                              "the first pods run")
        self._thread.start()

    def finish(self):
        """Creates no more pods and waits until the existing ones are done. Those that are not done in time are lost."""
        self._stop.set()
        self._thread.join()
        if self._failure:
            raise self._failure
        end = time.monotonic() + _PATIENCE_S
        while (left := self._unfinished()) and time.monotonic() < end:
            time.sleep(0.2)
        for what in left:
            self._pods.blame(what)

    def clear(self):
        """Deletes everything and waits until it is gone."""
        for path in (_JOBS, _REPLICA_SETS, PODS):
            for thing in self._api.get(path)["items"]:
                self._pods.let_go(thing["metadata"]["name"])
                self._api.delete(f"{path}/{thing['metadata']['name']}")
        self._pods.await_that(lambda pods: not pods, "all pods are gone")

    def _run(self):
        try:
            while not self._stop.wait(self._draw.uniform(*_PAUSE_S)):
                for job in self._api.get(_JOBS)["items"]:
                    self._look_at(job)
                replaced = self._pods.names(lambda pod: pod.ran and not pod.over and pod.owner.startswith("replaced-"))
                if replaced:
                    name = self._draw.choice(replaced)
                    self._pods.let_go(name)
                    self._api.delete(f"{PODS}/{name}")
        except Failed as failure:
            self._failure = failure

    def _look_at(self, job):
        name, node, lane = job["metadata"]["name"], *job["metadata"]["annotations"]["lane"].split()
        ended = {each["type"] for each in job["status"].get("conditions", ()) if each["status"] == "True"}
        if "Failed" in ended:
            self._pods.blame(f"{name} has failed: {job['status']['conditions']}")
        if ended & {"Complete", "Failed"}:
            self._pods.let_go(name)
            self._api.delete(f"{_JOBS}/{name}")
            self._next_job(node, lane)

    def _next_job(self, node, lane):
        number = self._lanes[node, lane] = self._lanes.get((node, lane), 0) + 1
        self._api.create(_JOBS, _job(f"job-{node}-{lane}-{number}", node, lane, self._draw.uniform(0.5, 2.0)))

    def _unfinished(self):
        jobs = [job["metadata"]["name"] for job in self._api.get(_JOBS)["items"] if not job["status"].get("succeeded")]
        sets = [each["metadata"]["name"] for each in self._api.get(_REPLICA_SETS)["items"]
                if each["status"].get("readyReplicas", 0) != REPLACED]
        return [f"{name} is not done" for name in jobs + sets]


def _replica_set(name, node):
    pod = with_slots(name, IMAGE, ["/bin/sleep", "10000"], node, restartPolicy="Always",
                     terminationGracePeriodSeconds=1)
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name},
            "spec": {"replicas": REPLACED, "selector": {"matchLabels": {"set": name}},
                     "template": {"metadata": {"labels": {"set": name}}, "spec": pod["spec"]}}}


def _job(name, node, lane, seconds):
    pod = with_slots(name, IMAGE, ["/bin/sleep", f"{seconds:.2f}"], node)
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "annotations": {"lane": f"{node} {lane}"}},
            "spec": {"template": {"spec": pod["spec"]}}}

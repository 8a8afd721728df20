"""Provides the tests that a job of each kind of owner must pass on a real control plane: some of its pods succeed, it
is suspended and resumed, a pod is evicted, a node is drained, a node is lost, and a node reboots.
"""

import contextlib
import json

from testing.cluster.gang_cluster import PODS, SPACE
from testing.cluster.gpu_judge import holders_of
from testing.cluster.opposed_plays import SETTINGS
from testing.cluster.rig.kwok import ENDS, RUNS_FOR
from tests.cluster.owners.operator_jobs import asks_for_gpus, templates

_OVER = ("Succeeded", "Failed")
_MANAGED = "crossover.dev/managed"
_LEASE_S = 15.0
_HALF_AT_MOST_S = SETTINGS["gangs"]["deadline_s"] + _LEASE_S
# Kubernetes takes the pods of a node for lost 40 s after the node is gone, and looks every 20 s.
PATIENCE_S = 180.0
SUCCESS, SUSPENSION, EVICTION, DRAIN, LOSS, REBOOT = "success", "suspension", "eviction", "drain", "loss", "reboot"


def lively(job):
    """Returns the job with pods that end as a kubelet lets them."""
    for template in filter(asks_for_gpus, templates(job)):
        template["metadata"]["annotations"][ENDS] = "true"
    return job


def uids(pods):
    return {pod["metadata"]["uid"] for pod in pods}


class Lives:
    """Lives has a test of each event, and is mixed into an OperatorCase. There are three nodes of two GPUs, and a job
    of four pods, so that one node has a part of them.

    NOT       {event: why this kind cannot have it}
    SUCCEEDS_FIRST  whether a pod succeeds before the job is suspended
    RESUMED   how many pods a job has that was resumed
    DRAIN     more flags of kubectl drain
    IN_SIGHT  whether an operator has to see a pod that has failed before it goes
    TOGETHER  whether all pods may be made again where one goes
    """

    NODES, NODE_GPUS = 3, 2
    CONTROL = {"settings": SETTINGS}
    SIZE = 4
    NOT = {}
    SUCCEEDS_FIRST = True
    RESUMED = SIZE - 1
    TOGETHER = False
    IN_SIGHT = False
    DRAIN = ()
    patience_s = PATIENCE_S

    # These methods act on a job. A class overrides them where its kind has another way.

    def suspended(self, yes):
        """Returns the change to a job that suspends or resumes it."""
        return {"spec": {"suspend": yes}}

    def suspend(self, job, yes):
        self.world.cluster.kubectl("patch", job["kind"], job["metadata"]["name"], "--namespace", SPACE, "--type",
                                   "merge", "--patch", json.dumps(self.suspended(yes)))

    def failures(self, job):
        """Returns what an owner says that has failed for good."""
        thing = self.world.cluster.get(job["kind"], job["metadata"]["name"], SPACE)
        return [condition for condition in (thing or {}).get("status", {}).get("conditions") or ()
                if condition["type"] == "Failed" and condition["status"] == "True"]

    def begin(self, name, event):
        """Creates a job and blocks until it runs. Returns it and its pods."""
        if event in self.NOT:
            self.skipTest(f"n/a: {self.NOT[event]}")
        job = lively(self.make(name))
        self.halves.expect(name, self.SIZE)
        self.create(job)
        return job, self.until_whole(job, self.SIZE)

    def living(self, name):
        """Returns the pods that share and are neither over nor being deleted."""
        return [pod for pod in self.eyes.pods(name) if _MANAGED in pod["metadata"].get("labels", {})
                and pod["status"].get("phase") not in _OVER]

    def until_whole(self, job, size, gone=()):
        """Blocks until the job has `size` pods and all of them run, none of which is one of `gone`. Asserts that each
        has a GPU of its own. Returns them."""
        name = job["metadata"]["name"]

        def runs():
            pods = self.living(name)
            self.assert_apart(pods)
            return len(pods) == size and not uids(pods) & uids(gone) and \
                all(pod["status"].get("phase") == "Running" and holders_of(pod) for pod in pods)
        self.until(runs, f"{size} pods of {name} run")
        self.assertEqual(self.failures(job), [])
        return self.living(name)

    def assert_apart(self, pods):
        gpus = sorted(gpu for pod in pods if pod["spec"].get("nodeName") for gpu in holders_of(pod))
        self.assertEqual(len(set(gpus)), len(gpus), f"pods of one job are on one GPU: {gpus}")

    def let_succeed(self, pod):
        name = pod["metadata"]["name"]
        self.world.api.merge(f"{PODS}/{name}", {"metadata": {"annotations": {RUNS_FOR: "1ms"}}})
        self.until(lambda: pod["metadata"]["uid"] not in uids(self.living(name)), f"{name} has succeeded")

    def evict(self, pod):
        self.evict_by_name(pod["metadata"]["name"])

    def evict_by_name(self, name):
        meta = {"name": name, "namespace": SPACE}
        self.world.api.create(f"{PODS}/{name}/eviction",
                              {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta})

    def refuse(self, pods):
        """Writes what a kubelet writes that comes back before the GPUs of its node do."""
        for pod in pods:
            self.world.api.merge(f"{PODS}/{pod['metadata']['name']}/status", {"status": {
                "phase": "Failed", "reason": "UnexpectedAdmissionError", "containerStatuses": None,
                "message": "Allocate failed due to no healthy devices present"}})

    def comes_back(self, job, before, taken, size):
        """Blocks until the job is whole again after the pods `taken` went. Asserts that the others stayed. Returns all
        pods that there are then."""
        after = self.until_whole(job, size, taken)
        if not self.TOGETHER:
            self.assertLessEqual(uids(before) - uids(taken), uids(after), "pods that were not touched went, too")
        name = job["metadata"]["name"]
        self.assertNotIn(name, self.halves.longer_than(_HALF_AT_MOST_S), "half of it had GPUs for too long")
        return after

    def ends_by_an_eviction(self, job):
        """Asserts that the job has failed for good once one of its pods was evicted. It is the control of a job that
        lives."""
        self.create(lively(job))
        name = self.until_whole(job, self.SIZE)[-1]["metadata"]["name"]
        if self.IN_SIGHT:
            self.delete_pod_in_sight(name, lambda: self.failures(job), self.evict_by_name)
        else:
            self.evict_by_name(name)
            self.until(lambda: self.failures(job), f"{job['metadata']['name']} has failed")

    def stays_away_without_the_extender(self):
        """Asserts that a pod that was evicted does not come back while no extender runs, and comes back once one does.
        It is the control of a kind with which nothing was wrong before."""
        job, before = self.begin("without", EVICTION)
        self.world.control.stop_pair(0)
        self.evict(before[-1])
        self.until(lambda: self.refused("without"), "its owner cannot make the pod again")
        self.assertLess(len(self.living("without")), self.SIZE)
        self.world.control.start_pair(0)
        self.world.control.await_ready()
        self.comes_back(job, before, before[-1:], self.SIZE)

    def refused(self, name):
        """Returns the events that say that the owner of a job's pods could not make one, for want of our webhook."""
        events = self.world.api.get(f"/api/v1/namespaces/{SPACE}/events")["items"]
        return [event for event in events if event["involvedObject"]["name"].startswith(name)
                and "failed calling webhook" in (event.get("message") or "")]

    def elsewhere(self, job, before, taken, node, _give_back):
        """Blocks until the job is whole again on other nodes than the one that has gone. A class that overrides it may
        call `give_back`, after which the node is there again."""
        after = self.comes_back(job, before, taken, self.SIZE)
        self.assertNotIn(node, {pod["spec"]["nodeName"] for pod in after})

    def on_the_way_back(self, *call):
        """Returns what makes this call once: now, or else when the test ends."""
        stack = contextlib.ExitStack()
        stack.callback(*call)
        self.stack.callback(stack.close)
        return stack.close

    def fullest(self, pods):
        """Returns the node that has the most of these pods, and its pods."""
        nodes = [pod["spec"]["nodeName"] for pod in pods]
        node = max(sorted(set(nodes)), key=nodes.count)
        return node, [pod for pod in pods if pod["spec"]["nodeName"] == node]

    # Each test is one event.

    def test_the_rest_runs_on_when_some_pods_succeed(self):
        job, before = self.begin("some", SUCCESS)
        self.let_succeed(before[-1])
        rest = self.until_whole(job, self.SIZE - 1)
        self.evict(rest[-1])
        self.comes_back(job, rest, rest[-1:], self.SIZE - 1)

    def test_what_is_left_comes_back_when_it_is_suspended_and_resumed(self):
        job, before = self.begin("resumed", SUSPENSION)
        if self.SUCCEEDS_FIRST and SUCCESS not in self.NOT:
            self.let_succeed(before[-1])
        self.suspend(job, True)
        self.until(lambda: not self.living("resumed"), "it is suspended")
        self.suspend(job, False)
        self.comes_back(job, before, before, self.RESUMED)

    def test_a_pod_that_is_evicted_comes_back_beside_the_others(self):
        job, before = self.begin("evicted", EVICTION)
        self.evict(before[-1])
        self.comes_back(job, before, before[-1:], self.SIZE)

    def test_pods_of_a_node_that_is_drained_come_back_elsewhere(self):
        job, before = self.begin("drained", DRAIN)
        node, taken = self.fullest(before)
        give_back = self.on_the_way_back(self.world.cluster.kubectl, "uncordon", node)
        # The examples have a volume in memory; pods without an owner are drained by force alone.
        self.world.cluster.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force",
                                   "--timeout=60s", *self.DRAIN, timeout_s=90.0)
        self.elsewhere(job, before, taken, node, give_back)

    def test_pods_of_a_node_that_is_lost_come_back_elsewhere(self):
        job, before = self.begin("lost", LOSS)
        node, taken = self.fullest(before)
        self.world.lose_node(node)
        give_back = self.on_the_way_back(self.world.bring_back, node)
        self.elsewhere(job, before, taken, node, give_back)

    def test_pods_of_a_node_that_reboots_come_back(self):
        job, before = self.begin("rebooted", REBOOT)
        _, taken = self.fullest(before)
        self.refuse(taken)
        self.comes_back(job, before, taken, self.SIZE)


class EachAlone(Lives):
    """EachAlone is mixed into cases of kinds whose pods are placed one by one. There are no more GPUs than pods: where
    a node goes, its pods wait until it is there again."""

    NODES = 2

    def elsewhere(self, job, before, taken, node, give_back):
        name = job["metadata"]["name"]

        def wait():
            pods = self.living(name)
            self.assert_apart(pods)
            waiting = {pod["metadata"]["name"] for pod in pods if not pod["spec"].get("nodeName")}
            return len(pods) == self.SIZE and len(waiting) == len(taken) and waiting <= set(self.eyes.told(name))
        self.until(wait, f"{len(taken)} pods of {name} wait and are told why")
        self.assertIn("no two of its pods are on one GPU", "".join(self.eyes.told(name).values()))
        give_back()
        self.comes_back(job, before, taken, self.SIZE)

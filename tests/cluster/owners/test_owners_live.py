"""Tests what Kubernetes' own controllers do with gangs over their lives: pods that succeed one by one, suspended Jobs,
evictions, disruption budgets, drains, reboots, and pods whose gang is not known. KWOK plays most nodes.
"""

import contextlib
import json
import os
import unittest
from pathlib import Path

from testing import pairs
from testing.cluster.gang_cluster import FAKE, PODS, POOL, REAL, SPACE, GangCluster
from testing.cluster.gang_plays import fills
from testing.cluster.gangs import IMAGE, JOBS, indexed_job
from testing.cluster.gpu_judge import holders_of
from testing.cluster.opposed_plays import SETTINGS
from testing.cluster.pods import MARKED, with_slots
from testing.cluster.rig.kwok import ENDS, RUNS_FOR
from testing.commands import Build

_NODES, _GPUS = 2, 4
_INDEX = "batch.kubernetes.io/job-completion-index"
_IGNORE = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
_POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
_POLICY_BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
_BUDGETS = f"/apis/policy/v1/namespaces/{SPACE}/poddisruptionbudgets"
_KEPT = "it is kept from its node by a test"


def policy(backoff_limit):
    """Returns the part of a Job's spec that says which of its pods count as failed, and how many may."""
    return {"backoffLimit": backoff_limit, "podFailurePolicy": _IGNORE}


def conditions(thing):
    return {each["type"]: each for each in thing.get("status", {}).get("conditions") or () if each["status"] == "True"}


class OwnersLive(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = GangCluster(Build(Path(os.environ["BUILD"])), _NODES, _GPUS, control={"settings": SETTINGS})
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)

    def tearDown(self):
        self.assertEqual(self.world.judge.overfull, {})
        self.assertEqual(self.world.judge.two_ranks, {})

    # These methods act on Jobs.

    def create(self, name, size, spec=None, **annotations):
        """Creates a gang whose pods end as a kubelet lets them. `spec` goes into the Job's spec."""
        self.world.lives.expect(name, size)
        job = indexed_job(name, size, annotations={ENDS: "true", **annotations}, nodeSelector={POOL: FAKE})
        job["spec"] |= spec or {}
        self.world.api.create(JOBS.format(SPACE), job)
        self.addCleanup(self.world.remove, name)

    def job(self, name):
        return self.world.api.get(f"{JOBS.format(SPACE)}/{name}")

    def change(self, name, **spec):
        self.world.api.merge(f"{JOBS.format(SPACE)}/{name}", {"spec": spec})

    def bound(self, name):
        """Returns {index: UID} of the Job's pods that are bound, run and are not being deleted."""
        return {pod["metadata"]["annotations"][_INDEX]: pod["metadata"]["uid"]
                for pod in self.world.lives.pods(name)
                if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]
                and pod["status"].get("phase") not in ("Succeeded", "Failed")}

    def until_bound(self, name, *indices):
        self.world.until(lambda: set(self.bound(name)) == set(indices), f"{name}: bound are {indices}")
        return self.bound(name)

    def until_succeeded(self, name, count):
        self.world.until(lambda: self.job(name)["status"].get("succeeded") == count, f"{name}: {count} have succeeded")

    def ends_now(self, name, index):
        """Lets the pod of this index succeed."""
        [pod] = [pod["metadata"]["name"] for pod in self.world.lives.pods(name)
                 if pod["metadata"]["annotations"][_INDEX] == index and "deletionTimestamp" not in pod["metadata"]]
        self.world.api.merge(f"{PODS}/{pod}", {"metadata": {"annotations": {RUNS_FOR: "1ms"}}})

    def suspend_and_resume(self, name):
        self.change(name, suspend=True)
        self.world.until(lambda: not self.bound(name), f"{name}: no pod is bound")
        self.change(name, suspend=False)

    # These tests let pods succeed.

    def test_what_is_left_comes_back_after_a_suspension(self):
        self.create("left", 2)
        before = self.until_bound("left", "0", "1")
        self.ends_now("left", "0")
        self.until_succeeded("left", 1)
        self.suspend_and_resume("left")
        after = self.until_bound("left", "1")
        self.assertNotEqual(before["1"], after["1"])

    def test_what_is_left_comes_back_though_the_pods_that_succeeded_are_gone(self):
        self.create("gone", 3)
        self.until_bound("gone", "0", "1", "2")
        self.ends_now("gone", "1")
        self.until_succeeded("gone", 1)
        self.change("gone", suspend=True)
        self.world.cluster.kubectl("delete", "pods", "--namespace", SPACE, "--selector", "job-name=gone")
        self.change("gone", suspend=False)
        self.until_bound("gone", "0", "2")

    def test_a_job_with_more_completions_than_pods_runs_to_its_end(self):
        self.create("many", 2, {"completions": 5}, **{RUNS_FOR: "300ms"})
        self.until_succeeded("many", 5)

    def test_an_index_that_failed_for_good_is_not_waited_for(self):
        self.create("indices", 2, {"backoffLimitPerIndex": 0, "maxFailedIndexes": 1, "backoffLimit": 2 ** 31 - 1})
        self.until_bound("indices", "0", "1")
        [pod] = [pod["metadata"]["name"] for pod in self.world.lives.pods("indices")
                 if pod["metadata"]["annotations"][_INDEX] == "0"]
        self.world.api.delete(f"{PODS}/{pod}")
        self.world.until(lambda: self.job("indices")["status"].get("failedIndexes") == "0", "index 0 has failed")
        self.suspend_and_resume("indices")
        self.until_bound("indices", "1")

    def test_a_success_policy_is_met_by_what_is_left_and_frees_the_gpus(self):
        rule = {"succeededIndexes": "0-1", "succeededCount": 2}
        self.create("met", 3, {"successPolicy": {"rules": [rule]}})
        self.until_bound("met", "0", "1", "2")
        self.ends_now("met", "0")
        self.until_succeeded("met", 1)
        self.suspend_and_resume("met")
        self.until_bound("met", "1", "2")
        self.ends_now("met", "1")
        self.world.until(lambda: "Complete" in conditions(self.job("met")), "the Job has succeeded, index 2 aside")
        fills(self.world, _NODES * _GPUS, nodeSelector={POOL: FAKE})

    # These tests take pods away.

    def keep_from_binding(self, pods):
        """Lets the API server refuse the Bindings of pods whose names begin so, and returns what ends that."""
        policy = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "kept"}}
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
        self.world.api.create(_POLICIES, policy | {"kind": "ValidatingAdmissionPolicy", "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": f"!object.metadata.name.startsWith('{pods}')", "message": _KEPT}]}})
        self.world.api.create(_POLICY_BINDINGS, policy | {"kind": "ValidatingAdmissionPolicyBinding", "spec": {
            "policyName": "kept", "validationActions": ["Deny"]}})
        name = f"{pods}-none"
        binding = json.dumps({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": SPACE},
                              "target": {"apiVersion": "v1", "kind": "Node", "name": "nowhere"}})

        def in_force():
            return _KEPT in self.world.cluster.kubectl("create", "--raw", f"{PODS}/{name}/binding", "--filename", "-",
                                                       check=False, input=binding).stderr
        self.world.until(in_force, "Bindings are refused")

        def end():
            for path in (_POLICY_BINDINGS, _POLICIES):
                self.world.cluster.kubectl("delete", "--raw", f"{path}/kept", check=False)
        self.addCleanup(end)
        return end

    def test_half_a_gang_is_evicted_and_its_job_lives(self):
        end = self.keep_from_binding("half-1-")
        self.create("half", 2, policy(0))
        first = self.until_bound("half", "0")
        self.world.until(lambda: first["0"] not in self.bound("half").values(), "the bound pod is taken away")
        end()
        after = self.until_bound("half", "0", "1")
        self.assertNotEqual(first["0"], after["0"])
        job = self.job("half")
        self.assertEqual(job["status"].get("failed", 0), 0, "an eviction is no failure")
        self.assertNotIn("Failed", conditions(job))

    def test_a_job_fails_where_its_pod_is_deleted(self):
        """In the control the pod is deleted, as the extender did before it evicted pods."""
        self.create("deleted", 2, policy(0))
        self.until_bound("deleted", "0", "1")
        self.world.api.delete(f"{PODS}/{self.world.lives.pods('deleted')[0]['metadata']['name']}")
        self.world.until(lambda: "Failed" in conditions(self.job("deleted")), "the Job has failed")

    def test_a_budget_keeps_half_a_gang_until_it_is_whole(self):
        end = self.keep_from_binding("kept-1-")
        pods = {"matchLabels": {"job-name": "kept"}}
        self.world.api.create(_BUDGETS, {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "kept"},
            "spec": {"minAvailable": 1, "selector": pods}})
        self.addCleanup(self.world.api.delete, f"{_BUDGETS}/kept")
        self.create("kept", 2, policy(0))
        first = self.until_bound("kept", "0")
        self.world.until(lambda: any(f"the disruption budget {SPACE}/kept" in reason
                                     for reason in self.world.lives.reasons("kept")), "it is told why it stays")
        self.assertEqual(self.bound("kept"), first)
        end()
        self.assertEqual(self.until_bound("kept", "0", "1")["0"], first["0"])

    def test_a_job_survives_a_drain(self):
        self.create("drained", 2, policy(0))
        before = self.until_bound("drained", "0", "1")
        node = self.world.lives.pods("drained")[0]["spec"]["nodeName"]
        self.addCleanup(self.world.cluster.kubectl, "uncordon", node)
        self.world.cluster.kubectl("drain", node, "--ignore-daemonsets", "--timeout=60s")
        self.world.until(lambda: set(self.bound("drained")) == {"0", "1"} and
                         not set(self.bound("drained").values()) >= set(before.values()), "it runs elsewhere")
        self.assertEqual(self.job("drained")["status"].get("failed", 0), 0)

    # These tests have pods whose gang is not known.

    def pods_of(self, app):
        return [pod for pod in self.world.api.get(PODS)["items"] if pod["metadata"]["labels"].get("app") == app]

    def apart(self, kind, api, replicas="replicas", **spec):
        """Creates an object that makes three pods where there are two GPUs, each with two slots. Asserts that two pods
        run, on two GPUs, and that the third waits and is told why."""
        app = kind.lower()
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.world.add_nodes(stack, [f"node-of-{app}"], 2, app)
        pod = with_slots(app, IMAGE, ["/bin/sleep", "1000"], nodeSelector={POOL: app},
                         schedulerName="crossover-scheduler", schedulingGates=[{"name": "crossover.dev/gang"}])
        if kind != "Job":
            pod["spec"]["restartPolicy"] = "Always"
        template = {"metadata": {"labels": {"app": app, **MARKED},
                                 "annotations": {"crossover.dev/share": "true", "crossover.dev/gpu-memory": "10Gi"}},
                    "spec": pod["spec"]}
        selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": app}}}
        self.world.cluster.kubectl("create", "--namespace", SPACE, "--filename", "-", input=json.dumps({
            "apiVersion": api, "kind": kind, "metadata": {"name": app},
            "spec": {replicas: 3, "template": template, **selector, **spec}}))
        self.addCleanup(self.world.cluster.kubectl, "delete", kind, app, "--namespace", SPACE)

        def placed():
            return [holders_of(pod) for pod in self.pods_of(app) if pod["spec"].get("nodeName")]

        def told():
            return [event for event in self.world.api.get(f"/api/v1/namespaces/{SPACE}/events")["items"]
                    if event["reason"] == "GangNotKnown" and event["involvedObject"]["name"].startswith(app)]

        def waits():
            return [event for event in self.world.api.get(f"/api/v1/namespaces/{SPACE}/events")["items"]
                    if event["involvedObject"]["name"].startswith(app)
                    and "no two of its pods are on one GPU" in (event.get("message") or "")]
        self.world.until(lambda: len(placed()) == 2 and len(told()) == 1 and waits(), f"two pods of {app} run")
        self.assertEqual(len({gpu for gpus in placed() for gpu in gpus}), 2)
        self.assertIn(f"{kind} {app}: expected crossover.dev/gang", told()[0]["message"])

    def test_pods_of_a_stateful_set_are_on_gpus_of_their_own(self):
        self.apart("StatefulSet", "apps/v1", serviceName="none", podManagementPolicy="Parallel")

    def test_pods_of_a_deployment_are_on_gpus_of_their_own(self):
        self.apart("Deployment", "apps/v1")

    def test_pods_of_a_job_without_an_index_are_on_gpus_of_their_own(self):
        self.apart("Job", "batch/v1", "parallelism", completions=3)


class Reboots(unittest.TestCase):
    """Has real nodes, with a kubelet and the node daemon."""

    @classmethod
    def setUpClass(cls):
        cls.world = GangCluster(Build(Path(os.environ["BUILD"])), 0, 0, pairs.Shape(0.6).machine(),
                                control={"settings": SETTINGS})
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)

    def reboot_under(self, name, backoff_limit):
        """Runs a Job of two pods and reboots a node of it. The kubelet comes before the daemon: it has the slots of
        before in its checkpoint, and nothing that gives them out. Returns how many pods it refuses."""
        world = self.world
        world.lives.expect(name, 2)
        job = indexed_job(name, 2, nodeSelector={POOL: REAL})
        job["spec"] |= policy(backoff_limit)
        world.api.create(JOBS.format(SPACE), job)
        self.addCleanup(world.remove, name)
        world.until(lambda: self.running(name) == 2, f"both pods of {name} run")
        before = world.lives.pods(name)
        number = next(number for number, node in enumerate(world.cluster.nodes)
                      if node.name == before[0]["spec"]["nodeName"])
        node = world.cluster.nodes[number]
        lost = {pod["metadata"]["uid"] for pod in before if pod["spec"]["nodeName"] == node.name}
        node.stop_kubelet(kill=True)
        world.daemons.end_on(number, kill=True)
        node.kill_containers()
        node.start_kubelet()
        refused = set()

        def all_refused():
            refused.update(pod["metadata"]["uid"] for pod in world.lives.pods(name)
                           if pod["status"].get("reason") == "UnexpectedAdmissionError")
            return refused >= lost
        world.until(all_refused, f"the kubelet has refused {len(lost)} pods")
        world.daemons.start_on(number)
        return len(refused)

    def test_a_job_survives_that_its_node_reboots_and_the_daemon_comes_late(self):
        refused = self.reboot_under("rebooted", 12)
        self.world.until(lambda: self.running("rebooted") == 2, "both pods run again")
        job = self.world.api.get(f"{JOBS.format(SPACE)}/rebooted")
        self.assertEqual(job["status"].get("failed"), refused, "each refusal counts once")
        self.assertEqual(self.world.judge.overfull, {})
        self.assertEqual(self.world.judge.two_ranks, {})

    def test_a_job_that_may_not_fail_ends_by_a_reboot(self):
        """In the control backoffLimit is 0, as it was in the examples before."""
        self.reboot_under("strict", 0)
        self.world.until(lambda: "Failed" in conditions(self.world.api.get(f"{JOBS.format(SPACE)}/strict")), "it fails")

    def running(self, name):
        return sum(pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
                   for pod in self.world.lives.pods(name))


if __name__ == "__main__":
    unittest.main()

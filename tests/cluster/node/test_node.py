"""Tests the node daemon beside a real kubelet: what happens to slots when GPUs report errors, and what the daemon
publishes."""

import json
import unittest

from testing.cluster.prometheus import judged
from tests.cluster.node.node_case import NAMESPACE, NodeCase

_ANEW = "is evicted, so that its controller makes it again: the kubelet gave its slot to two pods"
_QUIET_S = 5  # longer than a kubelet needs to tell the API server


class Node(NodeCase):
    NODE_SETTINGS = {"quiet_after_error_s": _QUIET_S}

    def xid(self, number, gpu=0):
        self.gpus.say_xid(0, gpu, number)

    def test_it_is_ready_and_says_what_it_gives_out(self):
        uuid = self.gpus.uuids(0)[0]
        self.assertEqual(self.get("/healthz"), (200, "ok\n"))
        self.wait_for_metric("crossover_pods_known 1")
        self.wait_for_metric("crossover_kubelet_registered 1")
        self.assertEqual(self.get("/readyz"), (200, "ok\n"))
        for line in (f'crossover_slots{{gpu_uuid="{uuid}"}} 2', f'crossover_gpu_healthy{{gpu_uuid="{uuid}"}} 1',
                     "crossover_kubelet_registered 1", "crossover_kubelet_registrations_total 1"):
            self.wait_for_metric(line)

    def test_its_metrics_are_as_prometheus_wants_them(self):
        """Prometheus' own check looks at names, units and help texts."""
        self.run_with_slot("one", "one", self.gpus.uuids(0)[0])
        text = self.get("/metrics")[1]
        self.assertEqual(judged(self.cluster, text), (0, ""))
        bad = text.replace("crossover_allocations_total", "crossover_allocations")  # a counter without its ending
        self.assertNotEqual(judged(self.cluster, bad)[0], 0, "the control")

    def test_an_error_of_a_program_takes_nothing_away_and_one_of_a_gpu_its_slots_for_a_while(self):
        uuid = self.gpus.uuids(0)[1]
        self.xid(31, gpu=1)
        self.wait_for_metric(f'crossover_gpu_xids_total{{gpu_uuid="{uuid}",xid="31",blames="program"}} 1')
        self.wait_for_slots(4)
        self.xid(94, gpu=1)
        self.wait_for_slots(2)
        self.assertIn(f"gpu {uuid} is withheld: Xid 94", self.daemons.said(self.node))
        self.wait_for_slots(4)
        self.wait_for_metric(f'crossover_gpu_healthy{{gpu_uuid="{uuid}"}} 1')

    def test_slots_on_other_gpus_than_were_assigned_are_named_and_counted(self):
        """The third pod finds no free slot on its GPU, and the kubelet gives it one of another GPU."""
        wanted, other = self.gpus.uuids(0)
        for number in range(3):
            self.run_with_slot(f"pod-{number}", f"gang-{number}", wanted)
        self.wait_for_metric("crossover_assignment_drifts 1")
        self.assertIn("crossover_gang_collisions 0", self.get("/metrics")[1].splitlines())
        self.assertIn(f"{NAMESPACE}/pod-2/main has {other} and was assigned {wanted}", self.daemons.said(self.node))
        told = (f"OtherGpus: container main has {other} and was assigned {wanted}: "
                "the kubelet chose other GPUs than the scheduler")
        self.await_true(lambda: any(told in line for line in self.cluster.events(NAMESPACE, "pod-2")), "it is not told")
        self.assertFalse(any("OtherGpus" in line for line in self.cluster.events(NAMESPACE, "pod-1")), "the control")
        self.wait_for_doctor("other_gpus", "warn")
        self.delete_pods()
        self.wait_for_metric("crossover_assignment_drifts 0")

    def test_two_ranks_of_a_gang_on_a_gpu_are_named_and_counted(self):
        for number in range(2):
            self.run_with_slot(f"rank-{number}", "one", self.gpus.uuids(0)[0])
        self.wait_for_metric("crossover_gang_collisions 1")
        self.assertIn(f"has several ranks of gang {NAMESPACE}/one: {NAMESPACE}/rank-0, {NAMESPACE}/rank-1",
                      self.daemons.said(self.node))
        self.wait_for_event("rank-1", "TwoRanksOnOneGpu", NAMESPACE)
        self.wait_for_doctor("gang_collisions", "fail")
        self.wait_for_metric(f'crossover_gpu_held{{gpu_uuid="{self.gpus.uuids(0)[0]}"}} 1')
        self.delete_pods()
        self.wait_for_metric("crossover_gang_collisions 0")
        self.wait_for_metric(f'crossover_gpu_held{{gpu_uuid="{self.gpus.uuids(0)[0]}"}} 0')

    def wait_for_evictions(self):
        """Waits until the counters agree with the log. Accepted and refused evictions are counted apart. A pod that
        does not run yet has no disruption budget."""
        said = self.daemons.said(self.node)
        self.wait_for_metric(f"crossover_misplaced_pods_deleted_total {said.count(_ANEW)}")
        self.wait_for_metric(f"crossover_misplaced_pods_refused_total {said.count('was not evicted')}")

    def test_a_pod_that_the_kubelet_put_beside_another_of_its_gang_is_made_anew(self):
        """Both slots of the other GPU are taken, so the pod gets one of the GPU that it must not share."""
        uuids = self.gpus.uuids(0)
        self.run_with_slot("first", "one", uuids[0])
        for number in range(2):
            self.run_with_slot(f"other-{number}", f"other-{number}", uuids[1])
        pod = self.pod_with_slot("second", "one", uuids[1])
        replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "second"}, "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "second"}}, "template": {
                "metadata": {"labels": {"app": "second"}, "annotations": pod["metadata"]["annotations"]},
                "spec": pod["spec"] | {"restartPolicy": "Always"}}}}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "second"}, "spec": {
            "maxUnavailable": 0, "selector": {"matchLabels": {"app": "second"}}}}
        for made in (budget, replica_set):
            self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(made))
        self.wait_for_words("was not evicted: status 429")
        self.wait_for_evictions()
        seen = len(self.daemons.said(self.node))
        self.cluster.kubectl("delete", "poddisruptionbudget", "second", "--namespace", NAMESPACE)
        self.wait_for_words(_ANEW, seen)
        self.wait_for_evictions()
        self.assertEqual(self.cluster.get("pod", "first", NAMESPACE)["status"]["phase"], "Running", "it came first")
        self.cluster.kubectl("delete", "replicaset", "second", "--namespace", NAMESPACE)

    def test_what_is_given_out_is_published(self):
        uuid = self.gpus.uuids(0)[0]
        self.run_with_slot("published", "one", uuid)

        def published(node):
            gpus = {gpu["uuid"]: gpu for gpu in node["status"]["gpus"]} if node else {}
            holders = gpus.get(uuid, {}).get("holders", [])
            return [(h["pod"], h["gang"]) for h in holders] == [("published", f"{NAMESPACE}/one")]
        node = self.cluster.wait_for("gpunode", self.node.name, published)
        self.assertEqual((node["status"]["slots"], node["status"]["usedSlots"]), (4, 1))
        self.assertEqual(node["metadata"]["ownerReferences"][0]["name"], self.node.name)
        self.assertIn("enforce", self.cluster.kubectl("get", "gpunodes", self.node.name))
        self.delete_pods()
        self.cluster.wait_for("gpunode", self.node.name, lambda n: n["status"]["usedSlots"] == 0)

    def test_without_a_kubelet_it_is_not_ready(self):
        self.node.stop_kubelet()
        self.wait_for_metric("crossover_kubelet_registered 0")
        status, said = self.get("/readyz")
        self.assertEqual((status, said), (503, "this daemon is not registered with the kubelet: "
                                               "no slots are given out\n"))
        self.assertEqual(self.get("/healthz"), (200, "ok\n"), "no reason to start it anew")
        self.node.start_kubelet()
        self.wait_for_metric("crossover_kubelet_registered 1")
        self.wait_for_slots(4)
        self.assertEqual(self.get("/readyz"), (200, "ok\n"))


if __name__ == "__main__":
    unittest.main()

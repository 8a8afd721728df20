"""Tests GPUs that are shared through MPS: a control daemon runs on the node, and pods are its clients. It dies, or a
client is killed.
"""

import json
import signal
import unittest

from testing.cluster.node_daemon import MpsDaemon
from testing.cluster.pods import assigned, with_slots
from testing.cluster.rig import gone, phase
from tests.cluster.node.node_case import NAMESPACE, NodeCase

_USER = "crossover.test/gpu-user:1"


class Mps(NodeCase):
    NODE_SETTINGS = {"sharing": "auto"}
    MPS = False  # the tests start it on this node themselves

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.image_of(_USER, {"/usr/bin/gpu_user": cls.build.program("gpu_user")},
                             provided=("libcuda.so.1",))

    def setUp(self):
        self.mps = MpsDaemon(self.cluster, self.node, self.build)
        self.mps.start(strict=True)
        self.wait_for_healthy_gpus()

    def wait_for_healthy_gpus(self):
        """Blocks until the daemon gives out all GPUs, which it does a moment after MPS takes clients. The kubelet knows
        it as soon. The status of the node may be older by ten seconds."""
        self.wait_for_metric("crossover_mps_accepts_clients 1")
        for uuid in self.gpus.uuids(0):
            self.wait_for_metric(f'crossover_gpu_healthy{{gpu_uuid="{uuid}"}} 1')

    def tearDown(self):
        super().tearDown()
        for pod in self.cluster.get("pods", namespace=NAMESPACE):
            self.cluster.wait_for("pod", pod["metadata"]["name"], gone, NAMESPACE)
        self.mps.stop()
        self.wait_for_metric("crossover_mps_alive 0")

    def start_user(self, name, *arguments, user=65532, grace_s=0):
        """Starts a pod that has a context on the node's first GPU."""
        pod = with_slots(name, _USER, ["/usr/bin/gpu_user", "0", *arguments], self.node.name)
        pod["spec"]["securityContext"] |= {"runAsUser": user}
        pod["spec"]["terminationGracePeriodSeconds"] = grace_s
        assigned(pod, name, self.gpus.uuids(0)[0])
        self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod))
        self.cluster.wait_for("pod", name, phase("Running", "Failed"), NAMESPACE)

    def works(self, name):
        return "on the GPU" in self.cluster.logs(name, NAMESPACE)

    def wait_until_it_works(self, name):
        self.await_true(lambda: self.works(name), f"{name} is not on its GPU")

    def test_pods_are_clients_and_one_user_is_served_at_a_time(self):
        self.start_user("first")
        self.wait_until_it_works("first")
        self.cluster.wait_for("gpunode", self.node.name, lambda n: n["status"]["sharing"].get("servedUser") == 65532)
        self.start_user("foreign", user=1234)
        self.await_true(lambda: "of user 1234 waits" in self.mps.said(), "the other user does not wait")
        self.assertFalse(self.works("foreign"))
        self.wait_for_doctor("uid_clash_under_mps", "fail")
        self.cluster.kubectl("delete", "pod", "first", "--namespace", NAMESPACE, "--wait=false")
        self.wait_until_it_works("foreign")
        self.cluster.wait_for("gpunode", self.node.name, lambda n: n["status"]["sharing"].get("servedUser") == 1234)
        self.wait_for_doctor("uid_clash_under_mps", "ok")

    def test_a_pod_that_is_killed_leaves_its_neighbour_alone(self):
        """The pod's client is ended through MPS shortly before. Else the MPS server would take the neighbour along."""
        self.start_user("stays")
        self.start_user("leaves", grace_s=3)
        for name in ("stays", "leaves"):
            self.wait_until_it_works(name)
        self.cluster.kubectl("delete", "pod", "leaves", "--namespace", NAMESPACE, "--wait=false")
        self.cluster.wait_for("pod", "leaves", gone, NAMESPACE)
        self.wait_for_metric("crossover_mps_clients_terminated_total 1")
        self.assertEqual(self.cluster.get("pod", "stays", NAMESPACE)["status"]["phase"], "Running")
        self.start_user("crashes", "crash")  # shows what happens to a client that is not ended through MPS
        self.cluster.wait_for("pod", "stays", phase("Failed"), NAMESPACE)

    def test_without_its_control_daemon_nothing_is_given_out(self):
        self.mps.stop()
        self.wait_for_slots(0)
        self.wait_for_metric("crossover_mps_alive 0")
        self.wait_for_metric('crossover_sharing_info{sharing="mps"} 1')
        self.wait_for_words("no slots are given out: the control daemon of MPS does not run")
        self.mps.start()
        self.wait_for_slots(4)

    def said_so_far(self):
        return len(self.daemons.said(self.node))

    def wait_until_withheld(self, words, after):
        """`after` is the position in the daemon's log at which the fault was made."""
        self.wait_for_words(f"MPS takes no new clients{words}", after)
        self.wait_for_slots(0)
        self.wait_for_metric("crossover_mps_accepts_clients 0")
        self.wait_for_metric("crossover_mps_alive 1")

    def wait_until_given_out(self):
        self.wait_for_healthy_gpus()
        self.wait_for_slots(4)

    def wait_for_server(self, other_than=""):
        self.await_true(lambda: self.mps.server() not in ("", other_than), "MPS has no server")

    def test_a_server_in_fault_gets_no_newcomers(self):
        """It takes clients again when those that the fault hit have ended."""
        self.start_user("hit")
        self.wait_until_it_works("hit")
        seen = self.said_so_far()
        self.mps.ask(f"simgpu_fault {self.mps.server()}")
        self.wait_until_withheld(": its server is in FAULT", seen)
        self.wait_for_event("hit", "MpsTakesNoClients", NAMESPACE)
        self.wait_for_event(self.node.name, "SlotsWithheld")
        self.wait_for_doctor("mps_takes_no_clients", "fail")
        self.cluster.kubectl("delete", "pod", "hit", "--namespace", NAMESPACE, "--wait=false")
        self.wait_until_given_out()
        self.wait_for_doctor("mps_takes_no_clients", "ok")

    def test_a_server_that_hangs_gets_no_newcomers(self):
        self.wait_for_server()
        seen = self.said_so_far()
        self.mps.signal_server(signal.SIGSTOP)
        self.wait_until_withheld(": the process of its server is stopped", seen)
        self.mps.signal_server(signal.SIGCONT)
        self.wait_until_given_out()

    def test_a_control_daemon_that_hangs_gets_no_newcomers(self):
        seen = self.said_so_far()
        self.mps.freeze()
        try:
            self.wait_until_withheld(": its control daemon does not answer", seen)
        finally:
            self.mps.thaw()
        self.wait_until_given_out()

    def test_where_no_server_can_start_nothing_is_given_out(self):
        self.wait_for_server()
        seen = self.said_so_far()
        self.mps.ask("simgpu_servers fail")
        self.mps.signal_server(signal.SIGKILL)
        self.wait_until_withheld(": its server cannot start", seen)
        self.mps.ask("simgpu_servers start")
        self.wait_for_server()
        self.wait_until_given_out()

    def test_a_server_that_is_killed_is_replaced(self):
        self.start_user("client")
        self.wait_until_it_works("client")
        self.wait_for_server()
        killed = self.mps.server()
        self.mps.signal_server(signal.SIGKILL)
        self.wait_for_event("client", "MpsServerEnded", NAMESPACE)
        self.wait_for_server(other_than=killed)
        self.wait_until_given_out()

    def test_a_control_daemon_with_other_commands_is_named(self):
        seen = self.said_so_far()
        self.mps.stop()
        self.mps.start(CUDA_MPS_PROTOCOL_VERSION="3", SIMGPU_MPS_DRIVER="580")
        self.wait_until_withheld(" of ours: its control daemon speaks protocol 3", seen)
        self.mps.stop()
        self.mps.start()
        self.wait_until_given_out()

    def test_one_that_serves_all_users_is_known(self):
        self.mps.stop()
        self.mps.start(options=["-multiuser-server"])
        self.cluster.wait_for("gpunode", self.node.name, lambda n: n["status"]["sharing"].get("multiUser") is True)
        self.wait_until_given_out()
        for name, user in (("one", 65532), ("two", 1234)):
            self.start_user(name, user=user)
            self.wait_until_it_works(name)
        self.wait_for_doctor("uid_clash_under_mps", "ok")

    def wait_for_reason(self, sharing, reason):
        def so(node):
            said = node["status"]["sharing"]
            return said["kind"] == sharing and reason in said["reason"]
        self.cluster.wait_for("gpunode", self.node.name, so)

    def test_it_is_forgotten_where_no_pod_needs_it_and_not_before(self):
        self.run_with_slot("needs-it", "one", self.gpus.uuids(0)[0])
        self.mps.stop()
        self.wait_for_reason("mps", "pods were started under MPS")
        self.wait_for_slots(0)
        self.delete_pods()
        self.wait_for_reason("exclusive", "and no pod is known to need MPS")
        self.wait_for_slots(2, capacity=2)
        self.run_with_slot("alone", "two", self.gpus.uuids(0)[0])
        self.mps.start()
        self.wait_for_words("pod team/alone is on it, which was started without MPS")
        self.wait_for_slots(2)


if __name__ == "__main__":
    unittest.main()

"""The node daemon beside a real kubelet: what becomes of slots when GPUs err, and what it says of itself."""

import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from benchmarks import pairs
from benchmarks.commands import Build
from benchmarks.processes import Failed
from tests.cluster.node_daemon import SLOT, NodeDaemons
from tests.cluster.pods import restricted
from tests.cluster.rig import Cluster, phase
from tests.cluster.software_gpus import SoftwareGpus

_NAMESPACE, _SHELL = "team", "crossover.test/shell:1"
_QUIET_S = 5  # longer than a kubelet needs to tell the API server
_METRICS = "127.0.0.1:9401"
_PATIENCE_S = 60.0
_GET = """
import http.client, sys
connection = http.client.HTTPConnection(sys.argv[1], timeout=10)
connection.request("GET", sys.argv[2])
answer = connection.getresponse()
print(answer.status, answer.read().decode(), end="")
"""


class Node(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster()
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster.directory, pairs.Shape(0.6).machine(), build.gpu_libraries)
        cls.daemons = NodeDaemons(cls.cluster, cls.gpus, build, settings={"metrics": {"listen": _METRICS}},
                                  node_settings={"quiet_after_error_s": _QUIET_S})
        cls.daemons.start()
        cls.node = cls.cluster.nodes[0]
        cls.cluster.namespace(_NAMESPACE)
        cls.cluster.image_of(_SHELL, {"/bin/sleep": "/bin/sleep"})

    def get(self, path):
        """(status, text) of a page of the daemon's."""
        done = subprocess.run(self.node.enter([sys.executable, "-c", _GET, _METRICS, path]), capture_output=True,
                              text=True, check=True)
        status, text = done.stdout.split(" ", 1)
        return int(status), text

    def wait_for_metric(self, line):
        end = time.monotonic() + _PATIENCE_S
        while line not in self.get("/metrics")[1].splitlines():
            if time.monotonic() > end:
                raise Failed(f"no '{line}' in {self.get('/metrics')[1]}")
            time.sleep(0.1)

    def wait_for_slots(self, allocatable):
        def so(node):
            status = node["status"]
            return status["allocatable"].get(SLOT) == str(allocatable) and status["capacity"].get(SLOT) == "4"
        self.cluster.wait_for("node", self.node.name, so)

    def xid(self, number, gpu=0):
        self.gpus.say_xid(0, gpu, number)

    def run_with_slot(self, name, gang, uuid):
        """A pod of a gang that was assigned a GPU, once it runs."""
        pod = restricted(name, _SHELL, ["/bin/sleep", "1000"], self.node.name)
        assignment = json.dumps({"containers": {"main": [uuid]}})
        pod["metadata"]["annotations"] = {"crossover.dev/gang": gang, "crossover.dev/assignment": assignment}
        pod["spec"]["containers"][0]["resources"] = {"limits": {SLOT: "1"}}
        self.cluster.kubectl("create", "--namespace", _NAMESPACE, "--filename", "-", input=json.dumps(pod))
        self.cluster.wait_for("pod", name, phase("Running"), _NAMESPACE)

    def delete_pods(self):
        self.cluster.kubectl("delete", "pods", "--all", "--namespace", _NAMESPACE, "--now")

    def tearDown(self):
        self.delete_pods()

    def test_it_is_ready_and_says_what_it_gives_out(self):
        uuid = self.gpus.uuids(0)[0]
        self.assertEqual(self.get("/healthz"), (200, "ok\n"))
        self.wait_for_metric("crossover_pods_known 1")
        self.wait_for_metric("crossover_kubelet_registered 1")
        self.assertEqual(self.get("/readyz"), (200, "ok\n"))
        for line in (f'crossover_slots{{gpu_uuid="{uuid}"}} 2', f'crossover_gpu_healthy{{gpu_uuid="{uuid}"}} 1',
                     "crossover_kubelet_registered 1", "crossover_kubelet_registrations_total 1"):
            self.wait_for_metric(line)

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
        """The third pod finds no slot left on its GPU, and the kubelet gives it another."""
        wanted, other = self.gpus.uuids(0)
        for number in range(3):
            self.run_with_slot(f"pod-{number}", f"gang-{number}", wanted)
        self.wait_for_metric("crossover_assignment_drifts 1")
        self.assertIn("crossover_gang_collisions 0", self.get("/metrics")[1].splitlines())
        self.assertIn(f"{_NAMESPACE}/pod-2/main has {other} and was assigned {wanted}", self.daemons.said(self.node))
        self.delete_pods()
        self.wait_for_metric("crossover_assignment_drifts 0")

    def test_two_ranks_of_a_gang_on_a_gpu_are_named_and_counted(self):
        for number in range(2):
            self.run_with_slot(f"rank-{number}", "one", self.gpus.uuids(0)[0])
        self.wait_for_metric("crossover_gang_collisions 1")
        self.assertIn(f"has several ranks of gang {_NAMESPACE}/one: {_NAMESPACE}/rank-0, {_NAMESPACE}/rank-1",
                      self.daemons.said(self.node))
        self.delete_pods()
        self.wait_for_metric("crossover_gang_collisions 0")

    def test_without_a_kubelet_it_is_not_ready(self):
        self.node.stop_kubelet()
        self.wait_for_metric("crossover_kubelet_registered 0")
        status, said = self.get("/readyz")
        self.assertEqual((status, said), (503, "the kubelet does not listen: no slots are given out\n"))
        self.assertEqual(self.get("/healthz"), (200, "ok\n"), "no reason to start it anew")
        self.node.start_kubelet()
        self.wait_for_metric("crossover_kubelet_registered 1")
        self.wait_for_slots(4)
        self.assertEqual(self.get("/readyz"), (200, "ok\n"))


if __name__ == "__main__":
    unittest.main()

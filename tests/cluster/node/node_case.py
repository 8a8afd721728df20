"""Provides a test case with a cluster that has a daemon on each node, and helpers for tests of one daemon."""

import contextlib
import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from testing import pairs
from testing.cluster.node_daemon import NodeDaemons
from testing.cluster.pods import SLOT, assigned, with_slots
from testing.cluster.rig import Cluster, phase
from testing.cluster.software_gpus import SoftwareGpus
from testing.commands import Build
from testing.processes import Failed
from tests.cluster.monitoring import kubectl_plugin

NAMESPACE, SHELL = "team", "crossover.test/shell:1"
_METRICS = "127.0.0.1:9401"
_PATIENCE_S = 60.0
_GET = """
import http.client, sys
connection = http.client.HTTPConnection(sys.argv[1], timeout=10)
connection.request("GET", sys.argv[2])
answer = connection.getresponse()
print(answer.status, answer.read().decode(), end="")
"""


class NodeCase(unittest.TestCase):
    """Starts two nodes of two GPUs, each with two slots. Tests look at the first node."""

    SERVICE_ROUTING = False
    MPS = True  # runs the MPS control daemon on each node
    SETTINGS, NODE_SETTINGS = {}, {}  # override the daemons' configuration
    KINDS = {}  # classes of nodes that are no Node, by number
    OBSERVER = None  # returns a context that lasts from set-up until the cluster goes

    @classmethod
    def setUpClass(cls):
        cls.build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=cls.SERVICE_ROUTING, kinds=cls.KINDS)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, pairs.Shape(0.6).machine(), cls.build.gpu_libraries)
        cls.daemons = NodeDaemons(cls.cluster, cls.gpus, cls.build,
                                  settings={"metrics": {"listen": _METRICS}, **cls.SETTINGS},
                                  node_settings=cls.NODE_SETTINGS, mps=cls.MPS)
        cls.daemons.start()
        cls.node = cls.cluster.nodes[0]
        cls.cluster.namespace(NAMESPACE)
        cls.cluster.image_of(SHELL, {"/bin/sleep": "/bin/sleep"})
        if cls.OBSERVER:
            stack = contextlib.ExitStack()
            stack.enter_context(cls.OBSERVER(cls))
            cls.addClassCleanup(stack.close)

    def get(self, path):
        """Returns (status, text) of a page of the daemon's metrics server."""
        done = subprocess.run(self.node.enter([sys.executable, "-c", _GET, _METRICS, path]), capture_output=True,
                              text=True, check=True)
        status, text = done.stdout.split(" ", 1)
        return int(status), text

    def await_true(self, condition, what):
        end = time.monotonic() + _PATIENCE_S * self.cluster.patience
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"{what}; the daemon: {self.daemons.said(self.node)[-2000:]}")
            time.sleep(0.1)

    def wait_for_metric(self, line):
        self.await_true(lambda: line in self.get("/metrics")[1].splitlines(), f"no '{line}'")

    def wait_for_words(self, words, after=0):
        """Blocks until the daemon's log contains `words` behind the position `after`."""
        self.await_true(lambda: words in self.daemons.said(self.node)[after:], f"no '{words}'")

    def wait_for_event(self, about, reason, namespace=None):
        self.await_true(lambda: any(reason in line for line in self.cluster.events(namespace, about)),
                        f"no event {reason} of {about}")

    def wait_for_doctor(self, check, verdict):
        """Blocks until `kubectl crossover doctor` gives this verdict for this check."""
        def so():
            return kubectl_plugin.findings(self.cluster, self.build)[check]["verdict"] == verdict
        self.await_true(so, f"the doctor does not find {check}: {verdict}")

    def wait_for_slots(self, allocatable, capacity=4, timeout_s=60.0):
        def so(node):
            status = node["status"]
            return (status["allocatable"].get(SLOT) == str(allocatable)
                    and status["capacity"].get(SLOT) == str(capacity))
        self.cluster.wait_for("node", self.node.name, so, timeout_s=timeout_s)

    def annotate(self, kind, name, **annotations):
        """Sets annotations of ours on an object. It removes those whose value is None."""
        words = [f"crossover.dev/{key}-" if value is None else f"crossover.dev/{key}={value}"
                 for key, value in annotations.items()]
        self.cluster.kubectl("annotate", "--overwrite", kind, name, *words)

    def pod_with_slot(self, name, gang, uuid):
        """Returns a pod of a gang that was assigned a GPU."""
        return assigned(with_slots(name, SHELL, ["/bin/sleep", "1000"], self.node.name), gang, uuid)

    def run_with_slot(self, name, gang, uuid):
        """Creates such a pod and blocks until it runs."""
        pod = self.pod_with_slot(name, gang, uuid)
        self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod))
        self.cluster.wait_for("pod", name, phase("Running"), NAMESPACE)

    def delete_pods(self):
        self.cluster.kubectl("delete", "pods", "--all", "--namespace", NAMESPACE, "--now")

    def tearDown(self):
        self.delete_pods()

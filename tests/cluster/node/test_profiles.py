"""Tests that a GPUNode also counts the pods of its node that Crossover does not manage."""

import os
import unittest
from pathlib import Path

from testing import pairs
from testing.cluster.node_daemon import NodeDaemons
from testing.cluster.pods import with_slots
from testing.cluster.rig import Cluster
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import load_image
from testing.commands import Build

_TEAM = "team"
_SHAPE = pairs.Shape(0.6)
_PATIENCE_S = 90.0  # a node reports at most every 30 s what no pod waits for


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, _SHAPE.machine(), build.gpu_libraries)
        cls.daemons = NodeDaemons(cls.cluster, cls.gpus, build)
        cls.daemons.start()
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))

    def test_what_other_pods_ask_for_and_who_holds_slots_unmanaged(self):
        node, uuid = self.cluster.nodes[1], self.gpus.uuids(1)[0]
        before = self.cluster.wait_for("gpunode", node.name, lambda n: n and "requested" in n["status"])
        pod = with_slots("plain", "crossover.test/trainer:1", ["/bin/sh", "-c", "read x"], node.name, stdin=None)
        pod["spec"].pop("stdin")
        pod["spec"]["containers"][0]["stdin"] = True
        pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "100m", "memory": "32Mi"}
        pod["metadata"]["annotations"] = {"crossover.dev/assignment": f'{{"containers": {{"main": ["{uuid}"]}}}}'}
        self.cluster.apply(pod | {"metadata": pod["metadata"] | {"namespace": _TEAM}})

        def counted(gpu_node):
            status, was = gpu_node["status"], before["status"]["requested"]
            holders = [h["pod"] for gpu in status["gpus"] for h in gpu.get("holders", [])]
            now = status["requested"]
            return ("plain" in holders and now["milliCPU"] == was["milliCPU"] + 100
                    and now["memoryBytes"] == was["memoryBytes"] + (32 << 20)
                    and now["others"].get("crossover.dev/slot") == 1)
        self.cluster.wait_for("gpunode", node.name, counted, timeout_s=_PATIENCE_S)
        self.cluster.kubectl("delete", "pod", "plain", "--namespace", _TEAM, "--now")


if __name__ == "__main__":
    unittest.main()

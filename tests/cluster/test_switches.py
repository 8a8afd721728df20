"""What administrators tell a node's daemon while it runs: switches, maintenance, configurations."""

import os
import time
import unittest
from pathlib import Path

from benchmarks import pairs
from tests.cluster import node_daemon
from tests.cluster.node_case import NAMESPACE, NodeCase
from tests.cluster.training import TrainingJob, load_image

_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=400, warm_up=40)  # long enough to be switched off and on
_LIVE_WITHIN_S = 5.0  # what is promised of switches
_SYSTEM = node_daemon.NAMESPACE


class Switches(NodeCase):
    SERVICE_ROUTING = True
    SETTINGS = {"configurations": {"many": {"node": {"slots_per_gpu": 3}}}}

    def test_off_and_on_again_while_a_job_runs(self):
        """By its pod, its namespace, the node and the cluster; the job never notices."""
        load_image(self.cluster, self.build, Path(os.environ["TRAINER_DATA"]))
        job = TrainingJob(self.cluster, NAMESPACE, _SHAPE.job("switched", 1), self.gpus.machine.ranks)
        job.create()
        job.bind_everywhere(self.gpus.machine)
        self.wait_for_words(f"gang {NAMESPACE}/switched rank 0")
        pod = job.pod(0)["metadata"]["name"]
        for kind, name, whose in (("pod", pod, f"pod {NAMESPACE}/{pod}"),
                                  ("namespace", NAMESPACE, f"namespace {NAMESPACE}")):
            with self.subTest(kind):
                here = ("--namespace", NAMESPACE) if kind == "pod" else ()
                seen = len(self.daemons.said(self.node))
                self.cluster.kubectl("annotate", *here, kind, name, "crossover.dev/mode=off")
                began = time.monotonic()
                self.wait_for_words(f"left: crossover.dev/mode of {whose} is off", seen)
                self.assertLess(time.monotonic() - began, _LIVE_WITHIN_S)
                seen = len(self.daemons.said(self.node))
                self.cluster.kubectl("annotate", *here, kind, name, "crossover.dev/mode-")
                self.wait_for_words("joined", seen)
        for kind, name in (("node", self.node.name), ("namespace", _SYSTEM)):
            with self.subTest(kind):
                self.annotate(kind, name, mode="off")
                began = time.monotonic()
                self.wait_for_metric('crossover_node_mode{mode="off"} 1')
                self.assertLess(time.monotonic() - began, _LIVE_WITHIN_S)
                self.annotate(kind, name, mode=None)
                self.wait_for_metric('crossover_node_mode{mode="enforce"} 1')
        job.finish()  # fails where a rank has

    def test_a_switch_that_is_mistyped_is_named(self):
        self.annotate("node", self.node.name, mode="Off")
        self.wait_for_words("this node's object: crossover.dev/mode: Off is not allowed: enforce, observe or off")
        self.annotate("node", self.node.name, mode=None)

    def test_a_node_in_maintenance_takes_no_pods_and_no_turns(self):
        self.run_with_slot("stays", "one", self.gpus.uuids(0)[0])
        self.annotate("node", self.node.name, maintenance="true")
        self.wait_for_slots(0)
        self.wait_for_metric('crossover_node_mode{mode="off"} 1')
        self.wait_for_metric("crossover_maintenance 1")
        self.wait_for_event(self.node.name, "SlotsWithheld", "default")
        self.assertEqual(self.cluster.get("pod", "stays", NAMESPACE)["status"]["phase"], "Running")
        self.cluster.wait_for("gpunode", self.node.name, lambda n: n["status"]["maintenance"])
        self.annotate("node", self.node.name, maintenance=None)
        self.wait_for_slots(4)
        self.wait_for_metric('crossover_node_mode{mode="enforce"} 1')

    def test_a_label_chooses_the_configuration(self):
        self.cluster.kubectl("label", "node", self.node.name, "crossover.dev/configuration=many")
        self.wait_for_slots(6, capacity=6)
        self.wait_for_metric('crossover_configuration_info{configuration="many"} 1')
        self.cluster.kubectl("label", "--overwrite", "node", self.node.name, "crossover.dev/configuration=none")
        self.wait_for_words("none is none of")
        self.wait_for_slots(4)
        self.cluster.kubectl("label", "node", self.node.name, "crossover.dev/configuration-")
        self.wait_for_metric('crossover_configuration_info{configuration=""} 1')

    def test_a_file_that_changes_is_in_force_and_one_that_is_not_valid_is_not(self):
        self.daemons.configure(self.node, node_settings={"slots_per_gpu": 5})
        self.wait_for_slots(10, capacity=10)
        self.daemons.configure(self.node, node_settings={"slots_per_gpu": 500})
        self.wait_for_words("node.slots_per_gpu: 500 is not allowed: 1 to 100")
        self.wait_for_metric("crossover_config_valid 0")
        self.assertIn(f'crossover_slots{{gpu_uuid="{self.gpus.uuids(0)[0]}"}} 5', self.get("/metrics")[1])
        self.daemons.configure(self.node)
        self.wait_for_slots(4)
        self.wait_for_metric("crossover_config_valid 1")


if __name__ == "__main__":
    unittest.main()

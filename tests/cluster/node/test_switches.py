"""Tests what administrators change while a node's daemon runs: switches, maintenance, configurations."""

import os
import time
import unittest
from pathlib import Path

from testing import pairs
from testing.cluster import node_daemon
from testing.cluster.training import TrainingJob, load_image
from tests.cluster.node.node_case import NAMESPACE, NodeCase

_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=400, warm_up=40)  # long enough to be switched off and on
_LIVE_WITHIN_S = 5.0  # the documented limit for switches
_SYSTEM = node_daemon.NAMESPACE


class Switches(NodeCase):
    SERVICE_ROUTING = True
    SETTINGS = {"configurations": {"many": {"node": {"slots_per_gpu": 3}}}}

    def test_off_and_on_again_while_a_job_runs(self):
        """It is switched off by its pod, its namespace, the node and the cluster. The job ends without an error."""
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
        job.finish()  # fails where a rank has failed

    def test_a_switch_that_is_mistyped_is_named(self):
        """The event is on the object with the annotation, and there is one event only. A namespace is found by the
        daemons of all nodes."""
        wrong = "crossover.dev/mode: expected enforce, observe or off, got Off"
        self.run_with_slot("mistyped", "one", self.gpus.uuids(0)[0])
        places = (("node", self.node.name, (), "default"), ("namespace", NAMESPACE, (), NAMESPACE),
                  ("pod", "mistyped", ("--namespace", NAMESPACE), NAMESPACE))
        for kind, name, here, home in places:
            with self.subTest(kind):
                self.cluster.kubectl("annotate", *here, kind, name, "crossover.dev/mode=Off")
                self.wait_for_metric(f'crossover_mistyped_switches{{kind="{kind.capitalize()}"}} 1')
                self.await_true(lambda home=home, name=name: self.told(home, name, wrong), f"no event of the {kind}")
                if kind == "namespace":
                    other = self.cluster.nodes[1]
                    self.await_true(lambda: f"{NAMESPACE}: {wrong}" in self.daemons.said(other), "one daemon finds it")
                else:
                    self.assertIn("MistypedSwitch", self.cluster.kubectl("describe", *here, kind, name))
                self.cluster.kubectl("annotate", *here, kind, name, "crossover.dev/mode-")
                self.wait_for_metric(f'crossover_mistyped_switches{{kind="{kind.capitalize()}"}} 0')
                self.assertEqual(len(self.told(home, name, wrong)), 1)
        self.wait_for_metric("crossover_events_lost_total 0")

    def told(self, namespace, about, what):
        return [line for line in self.cluster.events(namespace, about) if "MistypedSwitch" in line and what in line
                and line.endswith("; it counts as not set")]

    def test_a_node_in_maintenance_takes_no_pods_and_no_turns(self):
        self.run_with_slot("stays", "one", self.gpus.uuids(0)[0])
        self.annotate("node", self.node.name, maintenance="true")
        self.wait_for_slots(0)
        self.wait_for_metric('crossover_node_mode{mode="off"} 1')
        self.wait_for_metric("crossover_maintenance 1")
        self.wait_for_event(self.node.name, "SlotsWithheld", "default")
        self.wait_for_doctor("maintenance", "warn")
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
        self.wait_for_words("crossover.dev/configuration: expected one of many, as ")
        self.wait_for_event(self.node.name, "MistypedSwitch", "default")
        self.wait_for_slots(4)
        self.cluster.kubectl("label", "node", self.node.name, "crossover.dev/configuration-")
        self.wait_for_metric('crossover_configuration_info{configuration=""} 1')

    def pods_on(self, uuid):
        """Returns the names of the pods that hold a GPU, as the daemon publishes them."""
        gpus = self.cluster.get("gpunode", self.node.name)["status"]["gpus"]
        return sorted(h["pod"] for gpu in gpus if gpu["uuid"] == uuid for h in gpu.get("holders", []))

    def test_fewer_slots_are_counted_by_the_pods_that_are_there(self):
        """The numbers of the slots do not matter: no GPU gets more pods than it may have now."""
        first, second = self.gpus.uuids(0)
        self.daemons.configure(self.node, node_settings={"slots_per_gpu": 3})
        self.wait_for_slots(6, capacity=6)
        for number in range(3):
            self.run_with_slot(f"pod-{number}", f"gang-{number}", first)
        self.cluster.kubectl("delete", "pod", "pod-0", "--namespace", NAMESPACE, "--now")
        self.await_true(lambda: self.pods_on(first) == ["pod-1", "pod-2"], "pod-0 is still there")
        self.daemons.configure(self.node, node_settings={"slots_per_gpu": 2})
        self.wait_for_slots(4)
        self.run_with_slot("third", "third", first)
        self.await_true(lambda: len(self.pods_on(first) + self.pods_on(second)) == 3, "one has no slot")
        self.assertEqual(self.pods_on(second), ["third"], "the first GPU has two slots and two pods")
        self.daemons.configure(self.node, node_settings={"sharing": "exclusive"})
        self.wait_for_words(f"gpu {first} is withheld: pods have 2 slots of this GPU, and it has 1 now")
        self.wait_for_slots(1, capacity=3)
        self.wait_for_event(self.node.name, "SlotsWithheld", "default")
        self.cluster.kubectl("delete", "pod", "pod-1", "--namespace", NAMESPACE, "--now")
        self.wait_for_slots(2, capacity=2)
        self.assertEqual(self.pods_on(first), ["pod-2"])
        self.delete_pods()
        self.daemons.configure(self.node)
        self.wait_for_slots(4)

    def test_a_file_that_changes_is_in_force_and_one_that_is_not_valid_is_not(self):
        self.daemons.configure(self.node, node_settings={"slots_per_gpu": 5})
        self.wait_for_slots(10, capacity=10)
        self.daemons.configure(self.node, node_settings={"slots_per_gpu": 500})
        self.wait_for_words("node.slots_per_gpu: expected 1 to 100, got 500")
        self.wait_for_metric("crossover_config_valid 0")
        self.assertIn(f'crossover_slots{{gpu_uuid="{self.gpus.uuids(0)[0]}"}} 5', self.get("/metrics")[1])
        self.daemons.configure(self.node)
        self.wait_for_slots(4)
        self.wait_for_metric("crossover_config_valid 1")


if __name__ == "__main__":
    unittest.main()

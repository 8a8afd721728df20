"""Tests that each GPU has one owner. Slots are withheld where another plugin or program uses the GPU, and turns stop
where a process takes no part in them."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from testing import pairs
from testing.cluster.pods import with_slots
from testing.cluster.rig import phase
from testing.cluster.training import TrainingJob, load_image
from tests.cluster.node import dra_objects
from tests.cluster.node.node_case import NAMESPACE, NodeCase, SHELL

_OTHERS = "others"
_PLUGINS = "/var/lib/kubelet/device-plugins"
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=3000, warm_up=40)  # longer than a client may be unregistered


class Owner(NodeCase):
    SERVICE_ROUTING = True

    def test_gpus_that_another_plugin_gives_out_are_withheld(self):
        ours, shared = self.gpus.uuids(0)
        self.cluster.processes.start(
            "other-plugin",
            self.node.enter([os.environ["OTHER_PLUGIN"], _PLUGINS, "nvidia.com/gpu", shared]),
            log=self.cluster.setup.logs / "other-plugin.log")
        self.wait_for_slots(2)
        self.wait_for_metric(f'crossover_gpu_healthy{{gpu_uuid="{ours}"}} 1')
        self.wait_for_words(f"gpu {shared} is withheld: another device plugin gives it out, as nvidia.com/gpu")
        self.wait_for_event(self.node.name, "SlotsWithheld", "default")
        self.wait_for_doctor("two_owners", "fail")
        self.cluster.processes.stop(["other-plugin"])
        self.wait_for_slots(4)
        self.wait_for_doctor("two_owners", "ok")

    def test_the_labels_of_the_gpu_operator_are_set_again_where_that_is_asked_for(self):
        """kubectl stands for the operator that takes its label back."""
        label = "nvidia.com/gpu.deploy.device-plugin"
        self.addCleanup(self.restart_daemon)
        self.allow_node_writes()
        self.daemons.end_on(0)
        self.daemons.start_on(0, gpu_operator="labels")
        def labelled(node):
            labels = node["metadata"]["labels"]
            return labels.get(label) == labels.get("nvidia.com/gpu.deploy.operator-validator") == "false"
        self.cluster.wait_for("node", self.node.name, labelled)
        self.cluster.kubectl("label", "node", self.node.name, f"{label}=true", "--overwrite")
        self.cluster.wait_for("node", self.node.name, labelled)
        told = "OperatorTakesNode: labels nvidia.com/gpu.deploy.*: expected false"
        self.await_true(lambda: any(told in line and line.endswith("the daemon sets them again")
                                    for line in self.cluster.events("default", self.node.name)), told)

    def test_without_that_setting_the_gpu_operator_keeps_the_node(self):
        """kubectl and another plugin stand for the operator: it takes its label back and runs its plugin."""
        label = "nvidia.com/gpu.deploy.device-plugin"
        self.cluster.kubectl("label", "node", self.node.name, f"{label}=true", "--overwrite")
        self.addCleanup(self.cluster.kubectl, "label", "node", self.node.name, f"{label}-")
        after = len(self.daemons.said(self.node))
        self.cluster.processes.start(
            "operators-plugin",
            self.node.enter([os.environ["OTHER_PLUGIN"], _PLUGINS, "nvidia.com/gpu", *self.gpus.uuids(0)]),
            log=self.cluster.setup.logs / "operators-plugin.log")
        self.wait_for_slots(0)
        self.wait_for_words(f"the GPU Operator runs this plugin because of the label {label}=true", after)
        self.assertEqual(self.cluster.get("node", self.node.name)["metadata"]["labels"][label], "true")
        self.cluster.processes.stop(["operators-plugin"])
        self.wait_for_slots(4)

    def allow_node_writes(self):
        """Lets daemons write Nodes, as the chart does where that is asked for, without its policy (test_doors.py)."""
        self.cluster.kubectl("create", "clusterrole", "node-marks", "--verb=patch", "--resource=nodes")
        self.cluster.kubectl("create", "clusterrolebinding", "node-marks", "--clusterrole=node-marks",
                             "--serviceaccount=crossover-system:crossover-deviceplugin")

    def test_gpus_that_pods_have_from_another_plugin_are_withheld_until_these_are_gone(self):
        shared = self.gpus.uuids(0)[1]
        self.cluster.processes.start(
            "leaving-plugin",
            self.node.enter([os.environ["OTHER_PLUGIN"], _PLUGINS, "nvidia.com/gpu", shared]),
            log=self.cluster.setup.logs / "leaving-plugin.log")
        self.wait_for_slots(2)
        pod = with_slots("rivals", SHELL, ["/bin/sleep", "1000"], self.node.name)
        pod["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
        self.cluster.kubectl("create", "--namespace", NAMESPACE, "--filename", "-", input=json.dumps(pod))
        self.cluster.wait_for("pod", "rivals", phase("Running"), NAMESPACE)
        self.wait_for_metric(f'crossover_gpu_pods_of_other_plugins{{gpu_uuid="{shared}"}} 1')
        self.cluster.processes.stop(["leaving-plugin"])
        why = f"another device plugin has given it to pod {NAMESPACE}/rivals, as nvidia.com/gpu"
        self.wait_for_words(f"gpu {shared} is withheld: {why}")
        self.await_true(lambda: any(why in line for line in self.cluster.events("default", self.node.name)), "no event")
        self.wait_for_slots(2)
        self.delete_pods()
        self.wait_for_slots(4)
        self.wait_for_metric(f'crossover_gpu_pods_of_other_plugins{{gpu_uuid="{shared}"}} 0')

    def test_gpus_that_a_dra_driver_gives_out_are_withheld(self):
        """Objects made by hand stand for the driver: NVIDIA's writes such slices, and the scheduler such claims."""
        ours, theirs = self.gpus.uuids(0)
        dra_objects.make_slice(self.cluster, self.node.name, {"gpu-1": theirs})
        self.wait_for_slots(2)
        self.wait_for_metric(f'crossover_gpu_healthy{{gpu_uuid="{ours}"}} 1')
        self.wait_for_words(f"gpu {theirs} is withheld: the DRA driver gpu.nvidia.com gives it out")
        self.wait_for_event(self.node.name, "SlotsWithheld", "default")
        self.wait_for_doctor("dra_driver", "fail")
        dra_objects.make_claim(self.cluster, NAMESPACE, "theirs", self.node.name, "gpu-1")
        dra_objects.delete_slice(self.cluster, self.node.name)
        self.wait_for_words(f"gpu {theirs} is withheld: the DRA driver gpu.nvidia.com has given it to ResourceClaim "
                            f"{NAMESPACE}/theirs")
        self.cluster.kubectl("delete", "resourceclaim", "theirs", "--namespace", NAMESPACE)
        self.wait_for_slots(4, timeout_s=120)  # a minute after the slices
        self.wait_for_doctor("dra_driver", "ok")

    def test_a_gpu_that_a_process_from_outside_uses_is_withheld(self):
        uuid = self.gpus.uuids(0)[1]
        self.cluster.processes.start(
            "gpu-user", self.node.enter([str(self.build.program("gpu_user")), "1"]),
            env=self.gpus.environment(0), log=self.cluster.setup.logs / "gpu-user.log")
        self.wait_for_slots(2)
        self.wait_for_metric(f'crossover_gpu_used_by_others{{gpu_uuid="{uuid}"}} 1')
        self.wait_for_words(f"uses gpu {uuid} and has no slot of this GPU")
        told = f"SlotsWithheld: gpu {uuid}: used by a process of no pod"
        self.await_true(lambda: any(told in line for line in self.cluster.events("default", self.node.name)), told)
        self.wait_for_doctor("used_by_others", "fail")
        self.daemons.end_on(0, kill=True)
        self.daemons.start_on(0)  # with a log of its own
        self.wait_for_words(f"gpu {uuid} is withheld: used by a process of no pod")
        self.wait_for_slots(2)
        self.cluster.processes.stop(["gpu-user"])
        self.wait_for_slots(4)
        self.wait_for_doctor("used_by_others", "ok")
        self.wait_for_metric(f'crossover_gpu_used_by_others{{gpu_uuid="{uuid}"}} 0')

    def test_a_gpu_that_tells_no_memory_has_one_slot_until_a_setting_tells_it(self):
        uuid = self.gpus.uuids(0)[0]
        self.gpus.of_node_processes["SIMGPU_MEMORY_UNTOLD"] = "1"
        self.addCleanup(self.restart_daemon)
        self.addCleanup(self.gpus.of_node_processes.clear)
        self.restart_daemon()
        self.wait_for_slots(2, capacity=2)
        self.wait_for_words(f"gpu {uuid}: memory: expected a size from the driver or node.gpu_memory, got neither")
        self.wait_for_event(self.node.name, "MemoryUnknown", "default")
        self.wait_for_doctor("memory_unknown", "warn")
        self.daemons.configure(self.node, node_settings={"gpu_memory": "119Gi"})
        self.wait_for_slots(4)
        self.wait_for_doctor("memory_unknown", "ok")
        self.daemons.configure(self.node, node_settings={"gpu_memory": "119"})
        self.wait_for_words("node.gpu_memory: expected the memory of a GPU, from 1Mi to 1Pi, such as 119Gi, got 119")

    def test_the_speed_of_the_link_is_published_where_a_setting_tells_it(self):
        self.addCleanup(self.daemons.configure, self.node)
        self.daemons.configure(self.node, node_settings={"link_gbps": 100})
        self.cluster.wait_for("gpunode", self.node.name,
                              lambda node: node and node["status"].get("linkBytesPerSecond") == 100 * 10**9 // 8)

    def restart_daemon(self):
        self.daemons.end_on(0)
        self.daemons.start_on(0)

    def profile(self, gang):
        """Returns what the daemon knows of a running job."""
        command = [str(self.build.program("crossover")), "top", "-o", "json", "--socket", "/run/crossover/api.sock"]
        top = json.loads(subprocess.run(self.node.enter(command), capture_output=True, text=True, check=True).stdout)
        return next((job.get("profile", {}) for job in top["jobs"] if job["gang"] == gang), {})

    def test_no_turns_are_taken_beside_a_process_that_takes_no_part(self):
        load_image(self.cluster, self.build, Path(os.environ["TRAINER_DATA"]))
        self.cluster.namespace(_OTHERS)
        job = TrainingJob(self.cluster, NAMESPACE, _SHAPE.job("silent", 1), self.gpus.machine.ranks,
                          environment={"CROSSOVER_DISABLE": "1"})
        job.create()
        job.bind_everywhere(self.gpus.machine)
        first, second = self.gpus.uuids(0)
        self.run_with_slot("mate", "mate", first)
        beside = TrainingJob(self.cluster, _OTHERS, _SHAPE.job("beside", 2), 2)
        beside.create()
        beside.bind([(self.node, second), (self.cluster.nodes[1], self.gpus.uuids(1)[0])])
        for uuid in self.gpus.uuids(0):
            self.wait_for_metric(f'crossover_gpu_unhooked_processes{{gpu_uuid="{uuid}"}} 1')
            self.wait_for_metric(f'crossover_gpu_silent_processes{{gpu_uuid="{uuid}"}} 1')
            self.wait_for_metric(f'crossover_gpu_held{{gpu_uuid="{uuid}"}} 1')
        silent = job.pod(0)["metadata"]["name"]
        self.wait_for_event(silent, "TakesNoPart", NAMESPACE)
        self.wait_for_doctor("silent_library", "fail")
        told = f"no turns are taken on gpu {first}: pod {NAMESPACE}/{silent} uses the GPU and takes no part"
        self.await_true(lambda: f"Pod/mate NeighbourTakesNoPart: {told}" in self.cluster.events(NAMESPACE, "mate"),
                        "its neighbour is not told")
        far = beside.pod(0)["metadata"]["name"]
        told = f"no turns are taken on gpu {second}: another job uses the GPU and takes no part"
        self.await_true(lambda: f"Pod/{far} NeighbourTakesNoPart: {told}" in self.cluster.events(_OTHERS, far),
                        "the job of another namespace is not told")
        self.await_true(lambda: "disturbed_at_s" in self.profile(f"{_OTHERS}/beside"), "its profile is not marked")
        self.assertNotIn("step_alone_ms", self.profile(f"{_OTHERS}/beside"), "it has never been alone")
        self.wait_for_slots(4)
        self.cluster.kubectl("delete", "job", "silent", "--namespace", NAMESPACE, "--now")
        self.await_true(lambda: "step_alone_ms" in self.profile(f"{_OTHERS}/beside"), "nothing is learned again")
        self.cluster.kubectl("delete", "job", "beside", "--namespace", _OTHERS, "--now")
        self.wait_for_metric(f'crossover_gpu_held{{gpu_uuid="{self.gpus.uuids(0)[0]}"}} 0')
        self.wait_for_doctor("silent_library", "ok")


if __name__ == "__main__":
    unittest.main()

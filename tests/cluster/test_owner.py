"""One owner per GPU: slots are withheld where others give it out or use it, turns where somebody takes no part."""

import os
import unittest
from pathlib import Path

from benchmarks import pairs
from tests.cluster.node_case import NAMESPACE, NodeCase
from tests.cluster.training import TrainingJob, load_image

_PLUGINS = "/var/lib/kubelet/device-plugins"
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=3000, warm_up=40)  # longer than a client may be unheard of


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
        self.cluster.processes.stop(["other-plugin"])
        self.wait_for_slots(4)

    def test_a_gpu_that_somebody_from_outside_uses_is_withheld(self):
        uuid = self.gpus.uuids(0)[1]
        self.cluster.processes.start(
            "gpu-user", self.node.enter([str(self.build.program("gpu_user")), "1"]),
            env=self.gpus.environment(0), log=self.cluster.setup.logs / "gpu-user.log")
        self.wait_for_slots(2)
        self.wait_for_metric(f'crossover_gpu_used_by_others{{gpu_uuid="{uuid}"}} 1')
        self.cluster.processes.stop(["gpu-user"])
        self.wait_for_slots(4)
        self.wait_for_metric(f'crossover_gpu_used_by_others{{gpu_uuid="{uuid}"}} 0')

    def test_no_turns_are_taken_beside_a_process_that_takes_no_part(self):
        load_image(self.cluster, self.build, Path(os.environ["TRAINER_DATA"]))
        job = TrainingJob(self.cluster, NAMESPACE, _SHAPE.job("silent", 1), self.gpus.machine.ranks,
                          environment={"CROSSOVER_DISABLE": "1"})
        job.create()
        job.bind_everywhere(self.gpus.machine)
        for uuid in self.gpus.uuids(0):
            self.wait_for_metric(f'crossover_gpu_unhooked_processes{{gpu_uuid="{uuid}"}} 1')
            self.wait_for_metric(f'crossover_gpu_held{{gpu_uuid="{uuid}"}} 1')
        self.wait_for_event(job.pod(0)["metadata"]["name"], "TakesNoPart", NAMESPACE)
        self.wait_for_slots(4)
        self.cluster.kubectl("delete", "job", "silent", "--namespace", NAMESPACE, "--now")
        self.wait_for_metric(f'crossover_gpu_held{{gpu_uuid="{self.gpus.uuids(0)[0]}"}} 0')


if __name__ == "__main__":
    unittest.main()

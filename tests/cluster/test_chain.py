"""The whole chain on a real Kubernetes: pods of two jobs ask kubelets for slots, and take turns on the same GPUs."""

import os
import unittest
from pathlib import Path

from benchmarks import evaluate, pairs
from benchmarks.commands import Build
from tests.cluster.node_daemon import NodeDaemons
from tests.cluster.rig import Cluster
from tests.cluster.software_gpus import SoftwareGpus
from tests.cluster.training import OWN_PRELOAD, TrainingJob, load_image

_NAMESPACE = "team"
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)
_TRIES = 3  # the best of which counts: two cores play two nodes and a control plane


class Chain(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        machine = _SHAPE.machine()
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, machine, build.gpu_libraries)
        cls.daemons = NodeDaemons(cls.cluster, cls.gpus, build)
        cls.daemons.start()
        cls.cluster.namespace(_NAMESPACE)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))

    def run_jobs(self, names):
        """Jobs of these names at once, each with a rank on every GPU, the second with a library of its own preloaded;
        their logs."""
        ranks = self.gpus.machine.ranks
        jobs = [TrainingJob(self.cluster, _NAMESPACE, _SHAPE.job(name, seed), ranks,
                            environment=OWN_PRELOAD if seed == 2 else None)
                for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        for job in jobs:
            job.bind_everywhere(self.gpus.machine)
        found = [job.finish() for job in jobs]
        self.daemons.check()
        for job in jobs[1:]:
            self.assertGreaterEqual(job.own_preloads, ranks, "the image's own LD_PRELOAD")
        return found

    def test_two_jobs_take_turns(self):
        alone = self.run_jobs(["alone"])[0]
        solo = evaluate.solo_of(alone, _SHAPE.warm_up)
        cycles = []
        for number in range(_TRIES):
            jobs = self.run_jobs([f"alpha-{number}", f"beta-{number}"])
            self.assertEqual(jobs[0].digest, alone.digest, "the losses of the job that was alone before")
            shared = evaluate.shared_of(jobs, [solo] * 2, 1.0, _SHAPE.warm_up)
            cycles.append(shared.cycle_ms)
            if self._turns_alternate(number) and min(cycles) < 0.9 * 2 * solo.step_ms:
                return
        self.fail(f"cycles of {cycles} ms, one after the other {2 * solo.step_ms:.1f} ms; "
                  f"{[self.daemons.said(node)[-2000:] for node in self.cluster.nodes]}")

    def _turns_alternate(self, number):
        """On every GPU: most turns of one job are followed by one of the other."""
        gangs = {f"{_NAMESPACE}/alpha-{number}", f"{_NAMESPACE}/beta-{number}"}
        for node_number, node in enumerate(self.cluster.nodes):
            trace = self.daemons.trace(node)
            for uuid in self.gpus.uuids(node_number):
                holds = [e.gang for e in trace if e.gpu == uuid and e.event == "hold" and e.gang in gangs]
                changes = sum(a != b for a, b in zip(holds, holds[1:]))
                if len(holds) < 60 or changes < 0.8 * len(holds):
                    return False
        return True


if __name__ == "__main__":
    unittest.main()

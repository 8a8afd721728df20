"""Tests the whole chain on a real Kubernetes: two jobs are annotated, are placed on the same GPUs, and take turns
there."""

import os
import unittest
from pathlib import Path

from benchmarks import pairs
from benchmarks.commands import Build
from tests.cluster import turn_orders
from tests.cluster.control import Control
from tests.cluster.node_daemon import NodeDaemons
from tests.cluster.rig import Cluster
from tests.cluster.software_gpus import SoftwareGpus
from tests.cluster.training import OWN_PRELOAD, TrainingJob, load_image

_NAMESPACE = "team"
_KEY = "digits"  # the profile key of all jobs here: the first is measured alone, those after it share
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)


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
        cls.control = Control(cls.cluster, build)
        cls.control.prepare()
        cls.daemons.start()
        cls.control.start()
        cls.cluster.namespace(_NAMESPACE)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))

    def run_jobs(self, names):
        """Runs jobs of these names at the same time and returns their logs. Each has a rank on every GPU. The second
        has a library of its own preloaded."""
        ranks = self.gpus.machine.ranks
        jobs = [TrainingJob(self.cluster, _NAMESPACE, _SHAPE.job(name, seed), ranks,
                            annotations={"crossover.dev/profile-key": _KEY},
                            environment=OWN_PRELOAD if seed == 2 else None, by_hand=False)
                for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        found = [job.finish() for job in jobs]
        self.daemons.check()
        self.control.check()
        for job in jobs[1:]:
            self.assertGreaterEqual(job.own_preloads, ranks, "the image's own LD_PRELOAD")
        return found

    def test_two_jobs_take_turns(self):
        alone = self.run_jobs(["alone"])[0]
        self.control.await_profile(_NAMESPACE, _KEY)
        self.assertFalse(self._in_turns(turn_orders.alternate, "alone"), "the control: one job has none beside it")
        jobs = self.run_jobs(["alpha", "beta"])
        for job in ("alpha", "beta"):
            self._granted(job)
        self.assertEqual(jobs[0].digest, alone.digest, "the losses of the job that was alone before")
        said = [self.daemons.said(node)[-2000:] for node in self.cluster.nodes]
        self.assertTrue(self._in_turns(turn_orders.alternate, "alpha", "beta"), said)
        self.assertTrue(self._in_turns(turn_orders.hide, "alpha", "beta"), said)

    def _granted(self, job):
        """Asserts that each pod has a memory budget. The pods name none: it comes from what was measured, and without
        it no other job could share their GPUs."""
        pods = [pod for pod in self.cluster.get("pods", namespace=_NAMESPACE)
                if pod["metadata"]["labels"]["batch.kubernetes.io/job-name"] == job]
        for pod in pods:
            self.assertGreater(int(pod["metadata"]["annotations"]["crossover.dev/status-gpu-memory"]), 0)
        self.assertTrue(pods)

    def _in_turns(self, rule, *names):
        """Tells whether a rule of turn_orders holds on all nodes."""
        gangs = {f"{_NAMESPACE}/{name}" for name in names}
        return all(rule(self.daemons.trace(node), gangs, self.gpus.uuids(number))
                   for number, node in enumerate(self.cluster.nodes))


if __name__ == "__main__":
    unittest.main()

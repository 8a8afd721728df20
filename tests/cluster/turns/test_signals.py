"""Tests signals in device memory on a real Kubernetes: the chart installs signallers, two jobs take turns by their
signals, and the node daemons are replaced meanwhile."""

import os
import unittest
from dataclasses import replace
from pathlib import Path

from testing import pairs
from testing.cluster.prometheus import Prometheus
from testing.cluster.release import NAMESPACE, Release
from testing.cluster.rig import Cluster, gone, phase
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import TrainingJob, load_image, plain_digests, wait_until_learnt
from testing.commands import Build
from tests.cluster.turns import turn_orders
from tests.process.demo.leftovers import until

_TEAM, _KEY = "team", "digits"
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)
_LONG = 1500  # iterations of jobs that outlast the end of the daemons
_SIGNALLED_WITHIN_S = 60.0
_SIGNALLED = 'sum by (node) (crossover_clients{transport="signalled_gates"})'


class Signals(unittest.TestCase):
    NODE_SETTINGS = {}
    TRANSPORT = "ipc"
    OBSERVER = None  # as in node_case.py

    @classmethod
    def setUpClass(cls):
        cls.build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        if cls.OBSERVER:
            watching = cls.OBSERVER(cls)
            watching.__enter__()
            cls.addClassCleanup(watching.__exit__, None, None, None)
        cls.gpus = SoftwareGpus(cls.cluster, _SHAPE.machine(), cls.build.gpu_libraries)
        cls.release = Release(cls.cluster, cls.build, cls.gpus)
        cls.release.prepare()
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, cls.build, Path(os.environ["TRAINER_DATA"]))
        # The guard measures which way is faster. On a busy machine it may rightly let the jobs run side by side.
        cls.release.install(deviceplugin={"config": {"guard": "off", "transport": cls.TRANSPORT}},
                            signaller={"enabled": cls.TRANSPORT == "ipc"})

    def start_jobs(self, iterations, *names):
        jobs = [TrainingJob(self.cluster, _TEAM, replace(_SHAPE, iterations=iterations).job(name, seed),
                            self.gpus.machine.ranks, by_hand=False, annotations={"crossover.dev/profile-key": _KEY})
                for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        return jobs

    def digests(self, iterations):
        return plain_digests(self.build, replace(_SHAPE, iterations=iterations), "crossover-signals-test")

    def restarts(self):
        return {(pod["metadata"]["uid"], status["restartCount"]) for pod in self.release.pods("signaller")
                for status in pod["status"]["containerStatuses"]}

    def replace_daemons(self):
        for pod in self.release.pods("deviceplugin"):
            name = pod["metadata"]["name"]
            self.cluster.kubectl("delete", "pod", name, "--namespace", NAMESPACE, "--wait=false")
            self.cluster.wait_for("pod", name, gone, NAMESPACE)
        self.cluster.kubectl("rollout", "status", "daemonset/crossover-deviceplugin", "--namespace", NAMESPACE,
                             "--timeout", "120s")
        return self.release.pods("deviceplugin")

    def await_query(self, prometheus, expression):
        if not until(lambda: prometheus.query(expression), _SIGNALLED_WITHIN_S):
            self.fail(f"expected {expression}, got {prometheus.query('crossover_clients')}: {self.release.said()}")

    def rest_in_maintenance(self, prometheus):
        """Asserts that in maintenance of a node without jobs its signallers let go of its GPUs, and that their
        containers go on."""
        node, before, gpus = self.cluster.nodes[0].name, self.restarts(), self.gpus.machine.gpus_per_node
        for change, signallers in (("crossover.dev/maintenance=true", 0), ("crossover.dev/maintenance-", 2)):
            self.cluster.kubectl("annotate", "--overwrite", "node", node, change)
            self.await_query(prometheus, f'count(crossover_signallers{{node="{node}"}} == {signallers}) == {gpus}')
        self.assertEqual(self.restarts(), before)

    def test_two_jobs_take_turns_by_signals_while_daemons_are_replaced(self):
        self.start_jobs(_SHAPE.iterations, "alone")[0].finish()
        wait_until_learnt(self.cluster, _TEAM, _KEY)
        prometheus = Prometheus(self.cluster)
        prometheus.start(self.release.pods("deviceplugin"))
        jobs = self.start_jobs(_LONG, "alpha", "beta")
        for job in jobs:
            self.cluster.wait_for("pod", job.pod(0)["metadata"]["name"], phase("Running"), _TEAM)
        nodes = len(self.cluster.nodes)
        signalled = f"count({_SIGNALLED} >= 2) == {nodes}"
        self.await_query(prometheus, signalled)
        self.await_query(prometheus, f"count(crossover_signallers == 2) == {nodes * self.gpus.machine.gpus_per_node}")
        before = self.restarts()
        self.assertEqual(len(before), nodes)
        prometheus.look_at(self.replace_daemons())
        self.await_query(prometheus, signalled)
        running = [phase("Running")(job.pod(0)) for job in jobs]
        found = [job.finish() for job in jobs]
        self.assertEqual(running, [True, True], "the jobs ended before the daemons were replaced")
        self.assertEqual(self.restarts(), before, "the signallers go on without their daemon")
        self.assertEqual([job.digest for job in found], self.digests(_LONG))
        self.rest_in_maintenance(prometheus)
        self.assertTrue(self.release.in_turns(turn_orders.alternate, {f"{_TEAM}/alpha", f"{_TEAM}/beta"}))


if __name__ == "__main__":
    unittest.main()

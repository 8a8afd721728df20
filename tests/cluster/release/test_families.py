"""Tests clusters whose nodes, pods and services have addresses of IPv6, alone or beside those of IPv4. The chart is
installed as it is, and two jobs take turns."""

import json
import os
import unittest
from pathlib import Path

from testing import pairs
from testing.cluster.prometheus import Prometheus
from testing.cluster.release import NAMESPACE, Release
from testing.cluster.rig import Cluster
from testing.cluster.rig.families import IPV4, IPV6
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import TrainingJob, load_image, plain_digests, wait_until_learnt
from testing.commands import Build
from tests.cluster.turns import turn_orders
from tests.process.demo.leftovers import until

_TEAM, _KEY = "team", "digits"
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)
_SEEN_WITHIN_S = 60.0
_NAME = "crossover-deviceplugin"


class InFamilies:
    """Has the tests of a cluster of FAMILIES, the first of which is the primary one."""

    FAMILIES = ()

    @classmethod
    def setUpClass(cls):
        cls.build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True, families=cls.FAMILIES)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, _SHAPE.machine(), cls.build.gpu_libraries)
        cls.release = Release(cls.cluster, cls.build, cls.gpus)
        cls.release.prepare()
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, cls.build, Path(os.environ["TRAINER_DATA"]))
        cls.release.install(deviceplugin={"config": {"guard": "off"}})

    def pods(self):
        return [*self.release.pods("deviceplugin"), *self.release.pods("extender")]

    def test_1_kubelets_api_servers_and_prometheus_reach_each_address(self):
        """The installation waits until kubelets have found all pods ready."""
        pods = self.pods()
        self.assertEqual(len(pods), 4)
        reached = []
        for pod in pods:
            addresses = [each["ip"] for each in pod["status"]["podIPs"]]
            self.assertEqual([":" in address for address in addresses], [family is IPV6 for family in self.FAMILIES])
            reached += [{**pod, "status": {**pod["status"], "podIP": address}} for address in addresses]
        said = self.release.do("test").stdout
        self.assertRegex(said, "Phase: +Succeeded", "the API server asks the webhook")
        prometheus = Prometheus(self.cluster)
        prometheus.start(reached)
        self.assertTrue(until(lambda: prometheus.query(f"count(up == 1) == {len(reached)}"), _SEEN_WITHIN_S),
                        f"{prometheus.query('up')}: {self.release.said()}")

    def run_jobs(self, *names):
        jobs = [TrainingJob(self.cluster, _TEAM, _SHAPE.job(name, seed), self.gpus.machine.ranks, by_hand=False,
                            annotations={"crossover.dev/profile-key": _KEY}) for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        return [job.finish().digest for job in jobs]

    def test_2_two_jobs_take_turns(self):
        digests = plain_digests(self.build, _SHAPE, "crossover-families-test")
        self.assertEqual(self.run_jobs("alone"), digests[:1])
        wait_until_learnt(self.cluster, _TEAM, _KEY)
        self.assertEqual(self.run_jobs("alpha", "beta"), digests)
        gangs = {f"{_TEAM}/alpha", f"{_TEAM}/beta"}
        self.assertTrue(self.release.in_turns(turn_orders.alternate, gangs), self.release.said())


class Ipv6Alone(InFamilies, unittest.TestCase):
    FAMILIES = (IPV6,)

    def test_3_the_control_a_daemon_that_listens_on_addresses_of_ipv4_is_never_ready(self):
        config = self.cluster.get("configmap", _NAME, NAMESPACE)["data"]["node.yaml"]
        self.assertIn("[::]:9465", config)
        patch = {"data": {"node.yaml": config.replace("[::]:9465", "0.0.0.0:9465")}}
        self.cluster.kubectl("patch", "configmap", _NAME, "--namespace", NAMESPACE, "--patch", json.dumps(patch))
        old = self.release.pods("deviceplugin")[0]
        self.cluster.kubectl("delete", "pod", old["metadata"]["name"], "--namespace", NAMESPACE)

        def refused():
            names = {pod["metadata"]["name"] for pod in self.release.pods("deviceplugin")} - {old["metadata"]["name"]}
            return any("connection refused" in line for name in names
                       for line in self.cluster.events(NAMESPACE, name))
        self.assertTrue(until(refused, _SEEN_WITHIN_S), self.release.said())


class BothWithIpv4First(InFamilies, unittest.TestCase):
    FAMILIES = (IPV4, IPV6)


class BothWithIpv6First(InFamilies, unittest.TestCase):
    FAMILIES = (IPV6, IPV4)


if __name__ == "__main__":
    unittest.main()

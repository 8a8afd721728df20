"""Tests gangs on a real control plane: etcd, API server, controllers, two replicas of the extender with its scheduler,
and nodes that KWOK plays.
"""

import contextlib
import json
import os
import unittest
from pathlib import Path

from testing.cluster.gang_cluster import FAKE, POOL, SPACE, GangCluster
from testing.cluster.gang_plays import Arrivals, fills, large_gang, meet
from testing.cluster.leader_plays import Leaders
from testing.commands import Build

_NODES, _GPUS = 6, 4
_MANY, _DEADLINE_S = 50, 30
_LARGE, _LARGE_NODES = 512, 64
_KILLS, _LEASE_S = 10, 3
_ZONE = "topology.kubernetes.io/zone"
_CAPPED = {"annotations": {"crossover.dev/gpu-memory": "30Gi"}, "nodeSelector": {POOL: FAKE}}


def _of(job):
    return {"matchLabels": {"batch.kubernetes.io/job-name": job}}


def _apart(job, topology):
    """Returns an affinity that keeps the pods of a Job apart."""
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": topology, "labelSelector": _of(job)}]}}


class Gangs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        control = {"replicas": 2, "lease_s": _LEASE_S, "settings": {"gangs": {"deadline_s": _DEADLINE_S}}}
        cls.world = GangCluster(Build(Path(os.environ["BUILD"])), _NODES, _GPUS, control=control)
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)
        cls.lives = cls.world.lives

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def tearDown(self):
        self.assertEqual(self.world.judge.overfull, {})
        self.assertEqual(self.world.judge.two_ranks, {})

    def test_two_gangs_meet_pairwise(self):
        self.assertTrue(meet(self.world, 8, _NODES * _GPUS - 8, **_CAPPED))

    def test_gangs_on_too_few_gpus(self):
        arrivals = Arrivals(self.world, _MANY, seed=7, **_CAPPED)
        self.stack.callback(arrivals.clear)  # if a check fails, the other tests get the GPUs back
        arrivals.come()
        self.world.until(lambda: len(self.lives.waiting()) > 20, "many have to wait")
        waiting = self.lives.waiting()
        # Each pod that waits now is told why by an event, unless it is bound before.
        self.world.until(lambda: arrivals.step() or not waiting & self.lives.untold(), "those that wait know why")
        self.world.until(arrivals.step, "all gangs have run", 240.0)
        self.assertEqual(self.lives.half_past(_DEADLINE_S), [])
        for name, size in arrivals.sizes.items():
            gpus = self.lives.life(name).gpus
            self.assertEqual((len(gpus), len(set(gpus))), (size, size), name)

    def test_a_job_may_change_its_size(self):
        """An elastic job gets smaller while it waits for GPUs that do not exist, and grows while it runs."""
        self.addCleanup(self.world.remove, "elastic")
        self.world.create("elastic", _NODES * _GPUS + 2, **_CAPPED)
        self.world.until(lambda: self.lives.reasons("elastic"), "it waits, and is told why")
        self.assertEqual(self.lives.life("elastic").bound, {}, "the control")
        for size in (4, 8):
            self.resize("elastic", size)
            self.world.until_whole("elastic")
            gpus = self.lives.life("elastic").gpus
            self.assertEqual((len(gpus), len(set(gpus))), (size, size))

    def resize(self, name, size):
        self.lives.life(name).size = size
        self.world.cluster.kubectl("patch", "job", name, "--namespace", SPACE, "--type", "merge", "--patch",
                                   json.dumps({"spec": {"parallelism": size, "completions": size}}))

    def test_a_scheduler_is_told_which_node_to_try(self):
        self.addCleanup(self.world.remove, "nominated", "unaided")
        self.world.create("nominated", 2, **_CAPPED)
        self.world.until_whole("nominated")
        life = self.lives.life("nominated")
        self.assertEqual(life.nominated, {pod: node for pod, (node, _) in life.bound.items()})
        with self.world.control.without("patch", "pods/status"):
            self.world.create("unaided", 2, **_CAPPED)
            self.world.until_whole("unaided")
        self.assertEqual(self.lives.life("unaided").nominated, {})
        self.assertIn("schedulers are not told which node to try first",
                      self.world.control.said(self.world.control.leader().extender))

    def test_pods_that_may_not_be_together(self):
        """Gangs with constraints between their pods are bound by a real scheduler, though the planner packs others."""
        for zone in ("a", "b"):
            self.world.add_nodes(self.stack, [f"{zone}-{number}" for number in range(2)], 2, "apart", **{_ZONE: zone})

        def create(name, size, **constraints):
            self.addCleanup(self.world.remove, name)
            self.world.create(name, size, **{**_CAPPED, "nodeSelector": {POOL: "apart"}}, **constraints)

        create("by-host", 4, affinity=_apart("by-host", "kubernetes.io/hostname"))
        self.world.until_whole("by-host")
        nodes = {node for node, _ in self.lives.life("by-host").bound.values()}
        self.assertEqual(len(nodes), 4)
        create("by-zone", 3, affinity=_apart("by-zone", _ZONE))
        self.world.until(lambda: any("keep to spec.affinity.podAntiAffinity" in told
                                     for told in self.lives.reasons("by-zone")), "there are two zones alone")
        self.world.remove("by-host", "by-zone")
        create("spread", 6, topologySpreadConstraints=[{
            "maxSkew": 1, "topologyKey": _ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _of("spread")}])
        self.world.until_whole("spread")
        zones = [node[0] for node, _ in self.lives.life("spread").bound.values()]
        self.assertEqual((zones.count("a"), zones.count("b")), (3, 3))

    def test_a_gang_of_512_pods(self):
        nodes = [f"large-{number}" for number in range(_LARGE_NODES)]
        self.world.add_nodes(self.stack, nodes, _LARGE // _LARGE_NODES, "large")
        large = large_gang(self.world, _LARGE, patience_s=240.0, nodeSelector={POOL: "large"})
        self.assertEqual(large.bound, _LARGE)
        self.assertGreater(large.more_files, _LARGE * 0.9, "nearly all binds were held at the same time")
        self.assertLessEqual(large.more_threads, 0)

    def test_leaders_are_killed(self):
        leaders = self.stack.enter_context(Leaders(self.world, _LEASE_S))
        arrivals = Arrivals(self.world, None, seed=8, prefix="mid-kill", most=12, **_CAPPED)
        self.stack.callback(arrivals.clear)
        with self.world.meanwhile(arrivals.step):
            for _ in range(_KILLS):
                leaders.kill()  # another one takes over; the figure leader_kills_s says how soon
            arrivals.stop()
            self.world.until(lambda: not arrivals.unfinished, "all gangs have run", 240.0)
        self.assertEqual(self.lives.reserved(), set())
        self.assertEqual(self.lives.half_past(_DEADLINE_S + _LEASE_S), [])
        fills(self.world, _NODES * _GPUS, **_CAPPED)


if __name__ == "__main__":
    unittest.main()

"""Tests what the real Karpenter does for gangs and to them: it makes nodes for gangs that share and for gangs that do
not, and does not consolidate a rank away. Its instance types know nvidia.com/gpu alone, and a NodeOverlay adds one slot
for each GPU, as docs/operations.md says. KWOK plays the nodes.
"""

import contextlib
import os
import unittest
from pathlib import Path

from testing.cluster.gang_cluster import GangCluster, PODS, POOL, SPACE
from testing.cluster.gangs import ADMITTED, ANNOTATED, JOBS, indexed_job
from testing.cluster.opposed_plays import SETTINGS
from testing.cluster.rig.api import Watch
from testing.cluster.rig.kwok import ENDS
from testing.commands import Build
from tests.cluster.gangs.karpenter import Karpenter, Machines, NODES, gpus_of

_SLOTS = 2  # of a GPU
_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
_EVENTS = "/api/v1/events"
_STAYS = "karpenter.sh/do-not-disrupt"
_IGNORE = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
_SOON = {"gangs": {**SETTINGS["gangs"], "ungate_after_s": 3}}
_PATIENCE_S = 120.0
# These are the pools: one for each test, so that none meets nodes of another. Each has the type of its machines, and
# for each of their GPUs the number of slots that Karpenter counts on.
_POOLS = {"zero": ("gpu.2", 1), "twice": ("gpu.2", _SLOTS), "stays": ("gpu.1", 1), "leaves": ("gpu.1", 1),
          "alone": ("gpu.1", 1), "lifted": ("gpu.1", 1)}


class Karpenters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.world = stack.enter_context(GangCluster(Build(Path(os.environ["BUILD"])), 0, 0,
                                                    control={"webhook": True, "settings": _SOON}))
        cluster = cls.world.cluster
        cls.karpenter = Karpenter(cluster)
        stack.enter_context(Machines(cluster.api, _SLOTS))
        for name, (instance_type, slots) in _POOLS.items():
            cls.karpenter.add_pool(name, instance_type, slots * gpus_of(instance_type))
        cls.events = []
        watching = stack.enter_context(contextlib.closing(cluster.api()))
        stack.enter_context(Watch(watching, _EVENTS, lambda _when, _kind, event: cls.events.append(event),
                                  patient=True))

    def tearDown(self):
        self.assertEqual(self.world.judge.overfull, {})
        self.assertEqual(self.world.judge.two_ranks, {})

    # These methods act on gangs and pods.

    def create(self, name, size, pool, share="true", change=lambda job: None, **more):
        """Creates a gang as users write it. An eviction is no failure of its Job."""
        self.world.lives.expect(name, size)
        job = indexed_job(name, size, nodeSelector={POOL: pool}, requests={"cpu": "1"},
                          annotations={"crossover.dev/share": share, "crossover.dev/gpu-memory": "20Gi", ENDS: "true"},
                          **{"how": ANNOTATED, **more})
        job["spec"] |= {"podFailurePolicy": _IGNORE}
        change(job)
        self.world.api.create(JOBS.format(SPACE), job)
        self.addCleanup(self.world.remove, name)

    def until_it_runs(self, name, size):
        def runs():
            return sum(pod["status"].get("phase") == "Running" for pod in self.world.lives.pods(name)) == size
        self.until(runs, f"{size} pods of {name} run")

    def until(self, condition, what):
        try:
            self.world.until(condition, what, _PATIENCE_S)
        except Exception as failure:
            raise AssertionError(f"{failure}; Karpenter said: {self.karpenter.said()[-3000:]}") from failure

    # These methods tell what there is.

    def uids(self, name):
        """Returns {UID: node} of the pods of a gang that are there and are not being deleted."""
        return {pod["metadata"]["uid"]: pod["spec"].get("nodeName") for pod in self.world.lives.pods(name)
                if "deletionTimestamp" not in pod["metadata"]}

    def claims(self, pool):
        """Returns the names of the nodes that Karpenter has asked for in a pool, also of those it is removing."""
        return {claim["metadata"]["name"] for claim in self.world.api.get(_CLAIMS)["items"]
                if claim["metadata"]["labels"]["karpenter.sh/nodepool"] == pool}

    def initialized(self, pool):
        return [claim for claim in self.world.api.get(_CLAIMS)["items"]
                if claim["metadata"]["labels"]["karpenter.sh/nodepool"] == pool
                and any(condition["type"] == "Initialized" and condition["status"] == "True"
                        for condition in claim.get("status", {}).get("conditions", ()))]

    def nodes(self, pool):
        return [node for node in self.world.api.get(NODES)["items"]
                if node["metadata"]["labels"].get("karpenter.sh/nodepool") == pool]

    def told(self, uids, reason, words=""):
        """Returns those of these objects about which there is an event with this reason and these words."""
        return {event["involvedObject"]["uid"] for event in list(self.events)
                if event.get("reason") == reason and words in event.get("message", "")} & set(uids)

    # These are the cases. Each is followed by its control.

    def test_a_gang_that_shares_scales_from_zero(self):
        self.assertEqual(self.claims("zero"), set())
        self.create("first", 4, "zero")
        self.until_it_runs("first", 4)
        self.assertEqual(len(self.claims("zero")), 2, "four ranks need four GPUs, and a machine has two")
        for node in self.nodes("zero"):
            self.assertEqual(node["status"]["allocatable"].get("crossover.dev/slot"), str(2 * _SLOTS))
            self.assertNotIn("nvidia.com/gpu", node["status"]["allocatable"])
        self.create("second", 4, "zero")
        self.until_it_runs("second", 4)
        self.assertEqual(set(self.uids("second").values()), set(self.uids("first").values()), "they share")
        self.assertEqual(len(self.claims("zero")), 2)

    def test_where_the_overlay_has_all_slots_too_few_nodes_come(self):
        """Karpenter puts two ranks on each GPU of the node that is to come."""
        self.create("packed", 4, "twice")
        self.until(lambda: self.initialized("twice"), "the node that Karpenter has made is there")
        decided = self.karpenter.decisions()
        self.until(lambda: self.karpenter.decisions() >= decided + 2, "Karpenter decides with that node, to the end")
        self.until(lambda: any(text.startswith("needs 4 GPUs") for text in self.world.lives.reasons("packed")),
                   "the gang is told why it waits")
        self.assertEqual(set(self.uids("packed").values()), {None})
        self.assertEqual(len(self.claims("twice")), 1)

    def test_no_rank_is_consolidated_away(self):
        """Ends when Karpenter has looked at both nodes, and has removed a third one that holds no rank."""
        nodes = self.two_ranks("stays", "stays-long")
        before = self.uids("stays-long")
        self.create("brief", 1, "stays", share="exclusive")
        self.until_it_runs("brief", 1)
        third, = set(self.uids("brief").values())
        self.assertNotIn(third, nodes)
        self.world.remove("brief")
        self.until(lambda: third not in {node["metadata"]["name"] for node in self.nodes("stays")},
                   "Karpenter removes the node that holds no rank")
        self.until(lambda: self.told(nodes.values(), "DisruptionBlocked", _STAYS) == set(nodes.values()),
                   "Karpenter says what keeps it from the nodes of the ranks")
        self.assertEqual(self.uids("stays-long"), before)
        self.assertEqual({node["metadata"]["name"] for node in self.nodes("stays")}, set(nodes))

    def test_without_the_annotation_a_rank_is_consolidated_away(self):
        """To Karpenter the other node has room for it: a free slot. The gang is whole again."""
        nodes = self.two_ranks("leaves", "leaves-soon")
        before = self.uids("leaves-soon")
        for pod in self.world.lives.pods("leaves-soon"):
            self.world.api.merge(f"{PODS}/{pod['metadata']['name']}", {"metadata": {"annotations": {_STAYS: None}}})
        self.until(lambda: self.told(nodes.values(), "DisruptionTerminating", "Underutilized"),
                   "Karpenter consolidates one of the nodes")
        self.until(lambda: set(nodes) - {node["metadata"]["name"] for node in self.nodes("leaves")},
                   "the node is gone")
        self.assertTrue(before.keys() - self.uids("leaves-soon").keys())
        self.until_it_runs("leaves-soon", 2)

    def two_ranks(self, pool, name):
        """Creates a gang of two ranks, each on a node of its own with a free slot. Returns {node: UID}."""
        self.create(name, 2, pool)
        self.until_it_runs(name, 2)
        nodes = {node["metadata"]["name"]: node["metadata"]["uid"] for node in self.nodes(pool)}
        self.assertEqual(set(self.uids(name).values()), set(nodes))
        self.assertEqual(len(nodes), 2)
        return nodes

    def test_an_exclusive_gang_gets_new_nodes(self):
        nodes = self.two_ranks("alone", "neighbour")
        before = self.uids("neighbour")
        self.create("exclusive", 2, "alone", share="exclusive")
        self.until_it_runs("exclusive", 2)
        new = set(self.uids("exclusive").values())
        self.assertEqual(len(new), 2)
        self.assertFalse(new & set(nodes))
        self.assertEqual(len(self.claims("alone")), 4, "no more than it needs")
        self.assertEqual(self.uids("neighbour"), before)

    def test_an_exclusive_gang_that_prefers_no_other_nodes_gets_none(self):
        """Karpenter takes free slots for room. The pods come without the gate with which the extender tells what they
        prefer."""
        self.two_ranks("lifted", "resident")
        with self.world.unadmitted():
            self.create("ungated", 2, "lifted", share="exclusive", how=ADMITTED,
                        change=lambda job: job["spec"]["template"]["spec"].pop("schedulingGates"))
            self.until(lambda: len(self.uids("ungated")) == 2, "its pods are there")
        self.until(lambda: len(self.told(self.uids("ungated"), "Nominated", "node/")) == 2,
                   "Karpenter takes its pods for some that fit nodes")
        self.until(lambda: any("gets whole GPUs only" in text for text in self.world.lives.reasons("ungated")),
                   "the gang is told why it waits")
        self.assertEqual(set(self.uids("ungated").values()), {None})
        self.assertEqual(len(self.claims("lifted")), 2)


if __name__ == "__main__":
    unittest.main()

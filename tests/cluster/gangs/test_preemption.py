"""Tests that whole gangs make room for one of a higher PriorityClass, with Kubernetes' own priorities, evictions,
budgets and Jobs. KWOK plays the node.
"""

import os
import unittest
from pathlib import Path

from testing.cluster import room_plays
from testing.cluster.gang_cluster import SPACE, GangCluster
from testing.cluster.gangs import JOBS
from testing.cluster.opposed_plays import SETTINGS
from testing.commands import Build

_GPUS = 2  # of the only node
_LEASE_S = 4
_EVENTS = f"/api/v1/namespaces/{SPACE}/events"
_HOLDS = "crossover.test/holds"  # a finalizer, by which a pod that was evicted still has its GPU


class Preemption(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = GangCluster(Build(Path(os.environ["BUILD"])), 1, _GPUS,
                                control={"settings": SETTINGS, "lease_s": _LEASE_S})
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)
        room_plays.add_classes(cls.world)

    def tearDown(self):
        self.assertEqual(self.world.judge.overfull, {})
        self.assertEqual(self.world.judge.two_ranks, {})

    def create(self, name, size, rank, held=False):
        """Creates a gang whose pods share with none. An eviction is no failure of its Job. With `held`, a pod that is
        evicted keeps its GPU until let_go(), and counts as failed."""
        self.world.lives.expect(name, size)
        job = room_plays.exclusive_job(name, size, 1, rank)
        if held:
            job["spec"]["template"]["metadata"]["finalizers"] = [_HOLDS]
        else:
            job = room_plays.survives_evictions(job)
        self.world.api.create(JOBS.format(SPACE), job)
        self.addCleanup(self.world.remove, name)

    def two_run(self, prefix, held=False):
        """Fills the node with two gangs of one pod, and returns their names. The first runs for less time than the
        second, so it is the cheaper one to lose."""
        names = [f"{prefix}-low", f"{prefix}-middle"]
        for name, rank in zip(reversed(names), ("middle", "low")):
            self.create(name, 1, rank, held)
            self.world.until_whole(name)
        return names

    def uids(self, *names):
        return {pod["metadata"]["uid"] for pod in self.world.lives.pods(*names)
                if pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]}

    def told(self, name):
        """Returns what the pods of a gang were told when it left."""
        return {event["message"] for event in self.world.api.get(_EVENTS)["items"]
                if event["reason"] == "MakesRoom" and event["involvedObject"]["name"].startswith(f"{name}-")}

    def failed(self, name):
        return self.world.api.get(f"{JOBS.format(SPACE)}/{name}")["status"].get("failed", 0)

    def test_the_lowest_leaves_comes_again_and_is_told(self):
        low, middle = self.two_run("one")
        stays = self.uids(middle)
        self.create("one-high", 1, "high")
        self.world.until_whole("one-high")
        self.assertEqual(self.uids(middle), stays, "the dearer gang goes on")
        self.world.until(lambda: self.told(low), "its pod is told")
        self.assertIn("it makes room for one-high", "".join(self.told(low)))
        self.assertEqual(self.told(middle), set())
        self.world.remove("one-high")
        self.world.until_whole(low)
        self.assertEqual(self.failed(low), 0, "an eviction is no failure")

    def test_a_gang_of_two_takes_the_places_of_two(self):
        names = self.two_run("two")
        self.create("two-high", 2, "high")
        self.world.until_whole("two-high")
        self.assertEqual(self.uids(*names), set())

    def test_a_budget_and_never_keep_them(self):
        """No gang leaves for a place that is not to be had: the budget keeps one of the two that would have to."""
        names = self.two_run("kept")
        room_plays.keep(self.world, names[1], 1)
        self.addCleanup(room_plays.let_leave, self.world, names[1])
        before = self.uids(*names)
        self.create("kept-high", 2, "high")
        self.world.until(lambda: any("disruption budgets do not allow" in reason
                                     for reason in self.world.lives.reasons("kept-high")), "it is told why it waits")
        self.create("kept-modest", 1, room_plays.MODEST)
        self.world.until(lambda: any("the preemptionPolicy of this job is Never" in reason
                                     for reason in self.world.lives.reasons("kept-modest")), "it is told, too")
        self.assertEqual(self.uids(*names), before)

    def test_the_next_leader_takes_the_claim_over(self):
        """The leader ends while the pod that was evicted still has its GPU."""
        low, middle = self.two_run("over", held=True)
        self.addCleanup(self.clear, low, middle)
        self.create("over-high", 1, "high")
        self.world.until(lambda: not self.uids(low), "the gang is evicted")
        self.world.control.stop_pair(0)
        self.world.control.start_pair(0)
        self.world.control.await_ready()
        self.assertFalse(self.world.lives.whole("over-high"))
        self.let_go(low)
        self.world.until_whole("over-high")
        self.assertEqual(len(self.uids(middle)), 1, "no other gang left")

    def clear(self, *names):
        """Deletes gangs, and lets their pods go, those too that a Job makes meanwhile."""
        def gone():
            self.let_go(*names)
            return not self.world.lives.pods(*names)
        self.world.end(*names)
        self.world.until(gone, "their pods are gone")

    def let_go(self, *names):
        for pod in self.world.lives.pods(*names):
            self.world.cluster.kubectl("patch", "--namespace", SPACE, "pod", pod["metadata"]["name"], "--type", "merge",
                                       "--patch", '{"metadata": {"finalizers": null}}', check=False)


if __name__ == "__main__":
    unittest.main()

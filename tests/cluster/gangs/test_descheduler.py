"""Tests what the real Descheduler does to gangs that run, policy by policy, and what keeps it from them: the annotation
that the webhook sets, a selector that leaves our pods out, and a disruption budget. A gang of which ranks are evicted
all the same is whole again. KWOK plays the nodes.
"""

import contextlib
import os
import re
import unittest
from datetime import datetime, timezone
from pathlib import Path

from testing.cluster.gang_cluster import FAKE, GangCluster, PODS, POOL, SPACE
from testing.cluster.gangs import ANNOTATED, JOBS, indexed_job
from testing.cluster.opposed_plays import SETTINGS
from testing.cluster.rig.kwok import ENDS
from testing.commands import Build
from tests.cluster.gangs.descheduler import Descheduler, policy

_NODES, _GPUS = 2, 4
_ANNOTATION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
_MANDATORY = {"noEvictionPolicy": "Mandatory"}
_OTHERS_ONLY = {"labelSelector": {"matchExpressions": [{"key": "crossover.dev/managed", "operator": "DoesNotExist"}]}}
_USUAL = {}  # the annotation is a wish, which counts among pods of one priority only
_BUDGETS = f"/apis/policy/v1/namespaces/{SPACE}/poddisruptionbudgets"
_IGNORE = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
_OLD_S, _RESTARTS = 1, 3


def evicted(said):
    """Returns {pod: policy} of what the log of a pass says it has evicted."""
    return dict(re.findall(r'"Evicted pod" pod="([^"]+)".* strategy="([^"]+)"', said))


class Deschedulers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = GangCluster(Build(Path(os.environ["BUILD"])), _NODES, _GPUS,
                                control={"webhook": True, "settings": SETTINGS})
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)
        cls.descheduler = Descheduler(cls.world.cluster)

    def setUp(self):
        self.shapes = {}  # {gang: its size, and the CPUs that each pod asks for}

    def tearDown(self):
        self.assertEqual(self.world.judge.overfull, {})
        self.assertEqual(self.world.judge.two_ranks, {})

    # These methods act on gangs and policies.

    def create(self, name, size, cpus):
        """Creates a gang that shares with none, as users write it, and blocks until it runs. An eviction is no failure
        of its Job."""
        self.shapes[name] = (size, cpus)
        self.world.lives.expect(name, size)
        job = indexed_job(name, size, how=ANNOTATED, requests={"cpu": str(cpus)}, nodeSelector={POOL: FAKE},
                          annotations={"crossover.dev/share": "exclusive", ENDS: "true"})
        job["spec"] |= {"backoffLimit": 0, "podFailurePolicy": _IGNORE}
        self.world.api.create(JOBS.format(SPACE), job)
        self.addCleanup(self.world.remove, name)
        self.until_it_runs(name, size)

    def make_anew(self, name):
        """Replaces the gang's Job. A Job whose pods were evicted at different seconds waits for twice as long after
        each of them before it makes pods again: up to ten minutes after eight."""
        self.world.remove(name)
        self.create(name, *self.shapes[name])

    def until_it_runs(self, name, size):
        def runs():
            return sum(pod["status"].get("phase") == "Running" for pod in self.ranks(name)) == size
        self.world.until(runs, f"{size} pods of {name} run")

    def ranks(self, name):
        """Returns the pods of a gang that are bound and are not being deleted, as the API server has them now."""
        return [pod for pod in self.world.api.get(PODS)["items"]
                if pod["metadata"].get("labels", {}).get("job-name") == name and pod["spec"].get("nodeName")
                and "deletionTimestamp" not in pod["metadata"]
                and pod["status"].get("phase") not in ("Failed", "Succeeded")]

    def uids(self, name):
        return {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in self.ranks(name)}

    def look(self, plugin, point, args, evictor):
        return self.descheduler.look(policy(plugin, point, args, evictor, f"{POOL}={FAKE}"))

    @contextlib.contextmanager
    def budget(self, name):
        """Forbids every eviction of the gang's pods while the context lasts. Its controller counts pods of Jobs by
        minAvailable alone."""
        self.world.api.create(_BUDGETS, {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
            "spec": {"minAvailable": len(self.ranks(name)), "selector": {"matchLabels": {"job-name": name}}}})
        try:
            self.world.until(lambda: "observedGeneration" in self.world.api.get(f"{_BUDGETS}/{name}").get("status", {}),
                             "its controller has seen the budget", 30.0)
            yield
        finally:
            self.world.api.delete(f"{_BUDGETS}/{name}")

    # These methods check what a pass does.

    def stays(self, name, plugin, point, args, evictor):
        """Asserts that no rank leaves. Returns the log."""
        before = self.uids(name)
        said = self.look(plugin, point, args, evictor)
        self.assertEqual(self.uids(name), before, said[-3000:])
        self.assertEqual(evicted(said), {})
        return said

    def leaves_and_is_whole_again(self, name, plugin, point, args, evictor):
        """Asserts that ranks leave, that the log says which and by which policy, and that the gang is whole again."""
        before = self.uids(name)
        said = self.look(plugin, point, args, evictor)
        gone = {pod for uid, pod in before.items() if uid not in self.uids(name)}
        self.assertTrue(gone, said[-3000:])
        self.assertEqual(evicted(said), {f"{SPACE}/{pod}": plugin for pod in gone})
        self.until_it_runs(name, len(before))
        job = self.world.api.get(f"{JOBS.format(SPACE)}/{name}")
        self.assertEqual(job["status"].get("failed", 0), 0, "an eviction is no failure")

    def tried(self, name, plugin, point, args, again=lambda: None):
        """Tries one policy on a gang that runs. Each protection holds, and without it the same policy evicts ranks.
        `again` brings back what the policy looks for."""
        with self.subTest(plugin, protection="the webhook's annotation"):
            self.stays(name, plugin, point, args, _MANDATORY)
        with self.subTest(plugin, protection="a selector that leaves our pods out"):
            self.stays(name, plugin, point, args, _OTHERS_ONLY)
        with self.subTest(plugin, protection="a disruption budget"), self.budget(name):
            said = self.stays(name, plugin, point, args, _USUAL)
            self.assertIn("violate the pod's disruption budget", said)
        with self.subTest(plugin, control="the annotation alone is a wish"):
            self.leaves_and_is_whole_again(name, plugin, point, args, _USUAL)
        with self.subTest(plugin, control="without the annotation"):
            self.make_anew(name)
            self.without_annotation(name)
            again()
            self.leaves_and_is_whole_again(name, plugin, point, args, _MANDATORY)

    def without_annotation(self, name):
        for pod in self.ranks(name):
            self.world.api.merge(f"{PODS}/{pod['metadata']['name']}",
                                 {"metadata": {"annotations": {_ANNOTATION: None}}})

    # These are the usual policies.

    def test_ranks_on_one_node_are_no_duplicates(self):
        self.create("twins", _GPUS, 1)
        self.assertEqual({pod["metadata"]["annotations"].get(_ANNOTATION) for pod in self.ranks("twins")}, {"true"})
        self.tried("twins", "RemoveDuplicates", "balance", {})

    def test_a_busy_node_keeps_its_ranks(self):
        self.create("busy", _GPUS, 10)
        self.tried("busy", "LowNodeUtilization", "balance",
                   {"thresholds": {"cpu": 10}, "targetThresholds": {"cpu": 30}})

    def test_a_node_that_is_nearly_idle_keeps_its_ranks(self):
        self.create("dense", _GPUS, 8)
        self.create("sparse", 2, 1)
        self.tried("sparse", "HighNodeUtilization", "balance", {"thresholds": {"cpu": 20}})

    def test_a_gang_may_run_for_long(self):
        self.create("old", _GPUS, 1)
        self.grow_old("old")
        self.tried("old", "PodLifeTime", "deschedule", {"maxPodLifeTimeSeconds": _OLD_S}, lambda: self.grow_old("old"))

    def test_ranks_may_start_again_and_again(self):
        self.create("restarts", _GPUS, 1)
        self.have_restarted("restarts")
        self.tried("restarts", "RemovePodsHavingTooManyRestarts", "deschedule", {"podRestartThreshold": _RESTARTS},
                   lambda: self.have_restarted("restarts"))

    def grow_old(self, name):
        def old():
            now = datetime.now(timezone.utc)
            return all((now - datetime.fromisoformat(pod["metadata"]["creationTimestamp"].replace("Z", "+00:00")))
                       .total_seconds() > _OLD_S + 1 for pod in self.ranks(name))
        self.world.until(old, f"the pods of {name} are old enough")

    def have_restarted(self, name):
        """Writes into the status of each pod that its container has started again, as a kubelet does."""
        for pod in self.ranks(name):
            statuses = [status | {"restartCount": _RESTARTS + 1} for status in pod["status"]["containerStatuses"]]
            self.world.api.merge(f"{PODS}/{pod['metadata']['name']}/status",
                                 {"status": {"containerStatuses": statuses}})


if __name__ == "__main__":
    unittest.main()

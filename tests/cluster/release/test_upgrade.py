"""Tests upgrades from one release to the next, and back. As long as there is no second release, the next one is this
tree with a higher version, and one more has higher numbers of the protocol and the page too
(tools/releases/later.py). Two jobs run all the time.
"""

import json
import os
import time
import unittest
from dataclasses import replace
from pathlib import Path

from testing import pairs
from testing.cluster.gang_lives import job_of
from testing.cluster.pods import SLOT
from testing.cluster.release import NAMESPACE, Release, UPGRADE_WAITS, VERSION
from testing.cluster.rig import Cluster, phase, true
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import TrainingJob, load_image, plain_digests, wait_until_learnt
from testing.commands import Build
from testing.shipped import slots_per_gpu
from tests.cluster.monitoring import kubectl_plugin
from tests.cluster.turns import turn_orders
from tests.process.demo.leftovers import until
from tools.releases import later

_TEAM, _KEY = "team", "digits"
_NEXT, OTHER = "0.2.0", "0.3.0"  # the second speaks another protocol
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)
_TURNS_WITHIN_S = 60.0
_WITHOUT_GUARD = {"config": {"guard": "off"}}
_NS_PER_S = 1e9


class LongJob(TrainingJob):
    """A LongJob runs for minutes."""

    patience_s = 400.0


class MovedJob(LongJob):
    """A job whose pods may be evicted: the Job makes them again, and all ranks begin anew."""

    def _indexed_job(self):
        job = super()._indexed_job()
        job["spec"]["backoffLimit"] = 20  # each rank ends with an error when one of them is gone
        return job

    def _find(self, rank):
        self._pods = [pod for pod in self._pods if not phase("Failed")(pod)
                      and not pod["metadata"].get("deletionTimestamp")]
        return super()._find(rank)

    def finish(self):
        self._cluster.wait_for("job", self.name, true("Complete"), self._namespace,
                               timeout_s=self.patience_s)
        return super().finish()


class Upgrade(unittest.TestCase):
    """Its tests are stories of their own. Each begins and ends with the first release."""

    NEXT = _NEXT  # the release that the stories go to
    measured = {}  # what the first story has measured

    @classmethod
    def setUpClass(cls):
        cls.build = build = Build(Path(os.environ["BUILD"]))
        cls.folders = {_NEXT: later.make(build, _NEXT), OTHER: later.make(build, OTHER, ("protocol", "page"))}
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, _SHAPE.machine(), build.gpu_libraries)
        cls.release = Release(cls.cluster, build, cls.gpus)
        cls.release.prepare()
        for tag, folder in cls.folders.items():
            cls.release.add_version(tag, Build(folder))
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))
        cls.release.install(deviceplugin=_WITHOUT_GUARD)
        alone = cls.job("alone", 1, _SHAPE.iterations)
        alone.create()
        alone.finish()
        wait_until_learnt(cls.cluster, _TEAM, _KEY)

    @classmethod
    def job(cls, name, seed, iterations, kind=LongJob):
        return kind(cls.cluster, _TEAM, replace(_SHAPE, iterations=iterations).job(name, seed),
                    cls.gpus.machine.ranks, by_hand=False, annotations={"crossover.dev/profile-key": _KEY})

    def start(self, *names, iterations, first_seed=1, kind=LongJob):
        """Starts jobs with seeds from the first one on, and returns them once all their pods run."""
        jobs = [self.job(name, seed, iterations, kind) for seed, name in enumerate(names, first_seed)]
        for job in jobs:
            job.create()
            self.addCleanup(self.remove, job.name)
        for job in jobs:
            for rank in range(self.gpus.machine.ranks):
                self.cluster.wait_for("pod", job.pod(rank)["metadata"]["name"], phase("Running"), _TEAM)
        return jobs

    def remove(self, name):
        for kind in ("job", "service"):
            self.cluster.kubectl("delete", kind, name, "--namespace", _TEAM, "--wait=true", "--ignore-not-found")

    def go_to(self, tag):
        """Upgrades to the release of a tag, by its own chart, and blocks until all daemons are of it."""
        chart = {"chart": later.chart_of(self.folders[tag])} if tag in self.folders else {}
        images = {"image": {"tag": tag}}
        self.release.upgrade(**chart, deviceplugin={**_WITHOUT_GUARD, **images}, extender=images)
        self.assert_versions(tag)

    def versions(self):
        """Returns the versions of the daemons that run, by what the nodes publish."""
        return {node["metadata"]["name"]: node["status"]["version"] for node in self.cluster.get("gpunodes")}

    def assert_versions(self, tag):
        nodes = {node.name: tag for node in self.cluster.nodes}
        self.assertTrue(until(lambda: self.versions() == nodes, _TURNS_WITHIN_S), self.versions())

    def alternate(self, since_ns, *names):
        return self.release.in_turns(turn_orders.alternate, {f"{_TEAM}/{name}" for name in names}, since_ns)

    def assert_turns(self, *names):
        """Blocks until these jobs take turns on all GPUs from now on."""
        since_ns = time.monotonic_ns()
        self.assertTrue(until(lambda: self.alternate(since_ns, *names), _TURNS_WITHIN_S), self.release.said())

    def longest_without_turns_s(self, since_ns):
        """Returns the longest time for which a GPU has passed no turn on since then."""
        longest = 0
        for number, node in enumerate(self.cluster.nodes):
            events = self.release.trace(node, since_ns)
            for uuid in self.gpus.uuids(number):
                holds = [since_ns, *(event.t_ns for event in events if event.gpu == uuid and event.event == "hold")]
                longest = max([longest, *(after - before for before, after in zip(holds, holds[1:]))])
        return longest / _NS_PER_S

    def pods(self, *names):
        """Returns {UID: restarts} of the jobs' pods."""
        return {pod["metadata"]["uid"]: sum(status["restartCount"] for status in pod["status"]["containerStatuses"])
                for pod in self.cluster.get("pods", namespace=_TEAM) if job_of(pod) in names}

    def free(self):
        """Tells whether all slots are given out to no pod, and each node has as many as at first."""
        slots = str(slots_per_gpu() * self.gpus.machine.gpus_per_node)
        held = [holder for node in self.cluster.get("gpunodes") for gpu in node["status"]["gpus"]
                for holder in gpu.get("holders", ())]
        return not held and all(node["status"]["allocatable"].get(SLOT) == slots for node in self.cluster.get("nodes"))

    def finish(self, jobs, iterations):
        """Asserts that each job has computed what it computes alone, and that its slots are free again."""
        found = [job.finish().digest for job in jobs]
        digests = plain_digests(self.build, replace(_SHAPE, iterations=iterations), "crossover-upgrade-test")
        self.assertEqual(found, digests[:len(jobs)], "no iteration is lost, and no loss differs")
        self.assertTrue(until(self.free, _TURNS_WITHIN_S), self.cluster.get("gpunodes"))

    def test_1_an_upgrade_a_rollback_and_an_upgrade_beneath_two_jobs(self):
        """The second job starts under the new release, so that after the rollback its library is newer than its
        daemon. A daemon is killed in the middle of the last upgrade."""
        iterations = 6000
        first, = self.start("first", iterations=iterations)
        began_ns = time.monotonic_ns()
        self.go_to(self.NEXT)
        second, = self.start("second", iterations=iterations, first_seed=2)
        self.assert_turns("first", "second")
        before = self.pods("first", "second")
        turned_ns = time.monotonic_ns()
        self.release.do("rollback", "1", UPGRADE_WAITS)
        self.assert_versions(VERSION)
        self.assert_turns("first", "second")
        victim = self.release.pods("deviceplugin")[0]["metadata"]["name"]
        self.cluster.kubectl("delete", "pod", victim, "--namespace", NAMESPACE, "--grace-period=0", "--force",
                             "--wait=false")
        self.go_to(self.NEXT)
        self.assert_turns("first", "second")
        self.assertEqual(self.pods("first", "second"), before, "no pod is replaced, and none restarts")
        self.assertTrue(all(self.is_running(job) for job in (first, second)), "the jobs ended before the story")
        without_s = self.longest_without_turns_s(turned_ns)
        self.measured["seconds_without_turns"] = round(without_s, 1)
        self.measured["story_s"] = round((time.monotonic_ns() - began_ns) / _NS_PER_S)
        self.assertLess(without_s, _TURNS_WITHIN_S)
        self.finish((first, second), iterations)
        self.go_to(VERSION)

    def is_running(self, job):
        return all(phase("Running")(job.pod(rank)) for rank in range(self.gpus.machine.ranks))

    def test_2_a_node_is_drained_in_the_middle_of_an_upgrade(self):
        """The drain evicts a rank. The job begins anew where there is room, and computes what it computes alone."""
        iterations = 1500
        job, = self.start("drained", iterations=iterations, kind=MovedJob)
        node = self.cluster.nodes[1].name
        self.addCleanup(self.cluster.kubectl, "uncordon", node)
        self.cluster.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=120s",
                             "--pod-selector", "batch.kubernetes.io/job-name=drained")
        self.go_to(self.NEXT)
        self.cluster.kubectl("uncordon", node)
        self.finish((job,), iterations)
        self.go_to(VERSION)

    def test_3_a_daemon_may_be_newer_than_its_extender_and_an_extender_newer_is_named(self):
        newer = {"image": {"tag": self.NEXT}}
        self.release.upgrade(deviceplugin={**_WITHOUT_GUARD, **newer})
        self.assert_versions(self.NEXT)
        jobs = self.start("one", "two", iterations=400)
        self.assert_turns("one", "two")
        self.finish(jobs, 400)
        self.assertEqual(self.skew(), "warn")
        self.release.upgrade(deviceplugin=_WITHOUT_GUARD, extender=newer)
        self.assert_versions(VERSION)
        self.assertEqual(self.skew(), "warn")
        self.go_to(VERSION)
        self.assertTrue(until(lambda: self.skew() == "ok", _TURNS_WITHIN_S), "the control")

    def skew(self):
        return kubectl_plugin.findings(self.cluster, self.build)["version_skew"]["verdict"]

    def test_4_the_control_a_daemon_of_another_protocol_is_seen_and_refuses(self):
        iterations = 3000
        jobs = self.start("fifth", "sixth", iterations=iterations)
        self.assert_turns("fifth", "sixth")
        before = self.pods("fifth", "sixth")
        self.go_to(OTHER)
        since_ns = time.monotonic_ns()
        self.assertTrue(until(lambda: "uses the GPU and takes no part" in self.release.said(), _TURNS_WITHIN_S),
                        self.release.said())
        self.assertFalse(self.alternate(since_ns, "fifth", "sixth"), "no library of before takes turns")
        self.go_to(VERSION)
        if all(self.is_running(job) for job in jobs):
            self.assert_turns("fifth", "sixth")
        self.assertEqual(self.pods("fifth", "sixth"), before, "the jobs go on")
        self.finish(jobs, iterations)

    def test_5_definitions_of_a_later_release_hold_nothing_up(self):
        """It is the last test: Helm does not upgrade definitions that another program has changed."""
        name = "gpunodes.crossover.dev"
        path = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/later"
        self.cluster.kubectl("patch", "customresourcedefinition", name, "--type", "json", "--patch",
                             json.dumps([{"op": "add", "path": path, "value": {"type": "string"}}]))
        jobs = self.start("three", "four", iterations=400)
        self.assert_turns("three", "four")
        self.finish(jobs, 400)


if __name__ == "__main__":
    unittest.main()

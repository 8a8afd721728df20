"""From helm install to jobs that take turns, by their annotation alone; an upgrade and a rollback while they run; and
what stays when Crossover goes.
"""

import json
import os
import unittest
from pathlib import Path

from benchmarks import evaluate, pairs
from benchmarks.commands import Build
from tests.cluster.pods import SLOT, with_slots
from tests.cluster.release import Release
from tests.cluster.rig import Cluster, gone, phase, true
from tests.cluster.software_gpus import SoftwareGpus
from tests.cluster.training import TrainingJob, load_image

_TEAM = "team"
_SHELL = "crossover.test/shell:1"
_KEY = "digits"  # all jobs here are one training: the first is learnt alone, those after it share
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)
_TRIES = 3  # the best of which counts: two cores play two nodes and a control plane
_LEARNT_WITHIN_S = 90.0
# What uninstalling leaves, by its own words (charts/crossover/README.md).
_STAYS = {"customresourcedefinition/gpunodes.crossover.dev", "customresourcedefinition/jobprofiles.crossover.dev",
          "secret/crossover-admission", "lease/crossover-scheduler"}
_KINDS = ("clusterrole", "clusterrolebinding", "role", "rolebinding", "serviceaccount", "configmap", "secret", "lease",
          "service", "daemonset", "deployment", "job", "poddisruptionbudget", "networkpolicy",
          "mutatingwebhookconfiguration", "validatingadmissionpolicy", "validatingadmissionpolicybinding",
          "customresourcedefinition")


class Helm(unittest.TestCase):
    """Steps of one story, in the order of their names."""

    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, _SHAPE.machine(), build.gpu_libraries)
        cls.release = Release(cls.cluster, build, cls.gpus)
        cls.release.prepare()
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))
        cls.cluster.image_of(_SHELL, {"/bin/sleep": "/bin/sleep"})
        cls.release.install()

    def job(self, name, seed):
        return TrainingJob(self.cluster, _TEAM, _SHAPE.job(name, seed), self.gpus.machine.ranks,
                           annotations={"crossover.dev/profile-key": _KEY}, by_hand=False)

    def run_jobs(self, names, meanwhile=None):
        """Their logs. `meanwhile`: called while they run."""
        jobs = [self.job(name, seed) for seed, name in enumerate(names, 1)]
        for job in jobs:
            job.create()
        if meanwhile:
            for job in jobs:
                self.cluster.wait_for("pod", job.pod(0)["metadata"]["name"], phase("Running"), _TEAM)
            meanwhile()
        return [job.finish() for job in jobs]

    def test_1_all_of_it_is_ready(self):
        for component, count in (("extender", 2), ("deviceplugin", 2), ("mps", 2)):
            pods = self.release.pods(component)
            self.assertEqual(len(pods), count, component)
            for pod in pods:
                self.assertTrue(true("Ready")(pod), pod["metadata"]["name"])
        slots = str(2 * self.gpus.machine.gpus_per_node)
        for node in self.cluster.nodes:
            self.cluster.wait_for("node", node.name, lambda n: n["status"]["allocatable"].get(SLOT) == slots)
            self.cluster.wait_for("gpunode", node.name, lambda n: n and n["status"]["sharing"]["kind"] == "mps")

    def test_2_helm_test(self):
        said = self.release.do("test").stdout
        self.assertRegex(said, "Phase: +Succeeded")
        self.assertNotIn("Failed", said)

    def test_3_two_jobs_take_turns_and_an_upgrade_costs_no_step(self):
        alone = self.run_jobs(["alone"])[0]
        solo = evaluate.solo_of(alone, _SHAPE.warm_up)
        self.cluster.wait_for_any("jobprofiles", lambda profile: profile["spec"].get("key") == _KEY and profile.get(
            "status", {}).get("peakMemoryBytes"), _TEAM, _LEARNT_WITHIN_S)
        cycles = []
        for number in range(_TRIES):
            names = [f"alpha-{number}", f"beta-{number}"]
            jobs = self.run_jobs(names)
            self.assertEqual(jobs[0].digest, alone.digest, "the losses of the job that was alone before")
            cycles.append(evaluate.shared_of(jobs, [solo] * 2, 1.0, _SHAPE.warm_up).cycle_ms)
            if self.turns_alternate({f"{_TEAM}/{name}" for name in names}) and min(cycles) < 0.9 * 2 * solo.step_ms:
                break
        else:
            self.fail(f"cycles of {cycles} ms, one after the other {2 * solo.step_ms:.1f} ms; {self.release.said()}")
        self.upgrade_beneath(alone)

    def upgrade_beneath(self, alone):
        """All pods of ours but MPS are made anew, twice, while two jobs run."""
        before = self.uids()

        def upgrade():
            changed = {"podAnnotations": {"example.org/restarted": "yes"}}
            self.release.upgrade(deviceplugin=changed, extender=changed)
            self.assertFalse(before & self.uids(), "others")
            self.release.do("rollback", "1", "--wait")
        mps = {pod["metadata"]["uid"] for pod in self.release.pods("mps")}
        jobs = self.run_jobs(["over", "under"], upgrade)
        self.assertEqual(jobs[0].digest, alone.digest, "no step was lost, and none was different")
        self.assertEqual(mps, {pod["metadata"]["uid"] for pod in self.release.pods("mps")})

    def uids(self):
        return {pod["metadata"]["uid"] for part in ("extender", "deviceplugin") for pod in self.release.pods(part)
                if not pod["metadata"].get("deletionTimestamp")}

    def turns_alternate(self, gangs):
        """On every GPU: most turns of one job are followed by one of the other."""
        for number, node in enumerate(self.cluster.nodes):
            trace = self.release.trace(node)
            for uuid in self.gpus.uuids(number):
                holds = [event.gang for event in trace if event.gpu == uuid and event.event == "hold"
                         and event.gang in gangs]
                changes = sum(one != other for one, other in zip(holds, holds[1:]))
                if len(holds) < 60 or changes < 0.8 * len(holds):
                    return False
        return True

    def test_4_uninstall_stops_while_pods_hold_slots(self):
        pod = with_slots("holds", _SHELL, ["/bin/sleep", "1000"])
        pod["metadata"]["annotations"] = {"crossover.dev/share": "true", "crossover.dev/gang": "holds",
                                          "crossover.dev/gang-size": "1"}
        self.cluster.kubectl("create", "--namespace", _TEAM, "--filename", "-", input=json.dumps(pod))
        self.cluster.wait_for("pod", "holds", phase("Running"), _TEAM)
        self.cluster.wait_for_any("gpunodes", lambda node: node["status"].get("usedSlots"))
        done = self.release.do("uninstall", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout + done.stderr, r"team/holds on node-[12]: 1 slot")
        self.assertEqual(len(self.release.pods("deviceplugin")), 2, "all of it is there")
        self.cluster.kubectl("delete", "pod", "holds", "--namespace", _TEAM, "--now")
        self.cluster.wait_for("pod", "holds", gone, _TEAM)

    def test_5_uninstall_leaves_what_is_stated(self):
        for node in self.cluster.nodes:
            self.cluster.wait_for("gpunode", node.name, lambda n: not n["status"].get("usedSlots"))
        self.release.do("uninstall", "--wait")
        self.assertEqual(self.ours(), _STAYS)
        for node in self.cluster.nodes:
            self.cluster.wait_for("node", node.name, lambda n: n["status"]["allocatable"].get(SLOT, "0") == "0")

    def ours(self):
        found = set()
        for kind in _KINDS:
            names = self.cluster.kubectl("get", kind, "--all-namespaces", "--output", "name").split()
            found |= {f"{kind}/{name.split('/', 1)[1]}" for name in names if "crossover" in name}
        return found


if __name__ == "__main__":
    unittest.main()

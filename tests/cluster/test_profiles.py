"""What jobs need and gained, from the GPUs of two nodes to a JobProfile."""

import os
import unittest
from pathlib import Path

from benchmarks import evaluate, pairs
from benchmarks.commands import Build
from tests.cluster.node_daemon import NAMESPACE, NodeDaemons
from tests.cluster.pods import with_slots
from tests.cluster.rig import Cluster
from tests.cluster.software_gpus import SoftwareGpus
from tests.cluster.training import TrainingJob, load_image

_TEAM = "team"
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=600, warm_up=40)
_WITHIN = 0.5  # of the trainers' own figures: the machine is shared with whatever else runs on it
_PATIENCE_S = 90.0  # a node says at most every 30 s what nobody waits for
_EXTENDER = "crossover-extender"


def writer_permissions():
    """Of whoever keeps the profiles."""
    rules = [{"apiGroups": ["crossover.dev"], "resources": ["gpunodes"], "verbs": ["list"]},
             {"apiGroups": ["crossover.dev"], "resources": ["jobprofiles"],
              "verbs": ["list", "create", "patch", "delete"]},
             {"apiGroups": ["crossover.dev"], "resources": ["jobprofiles/status"], "verbs": ["patch"]}]
    subject = {"kind": "ServiceAccount", "name": _EXTENDER, "namespace": NAMESPACE}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _EXTENDER}
    return [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": _EXTENDER, "namespace": NAMESPACE}},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": _EXTENDER},
             "rules": rules},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
             "metadata": {"name": _EXTENDER}, "roleRef": role, "subjects": [subject]}]


class Profiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, _SHAPE.machine(), build.gpu_libraries)
        cls.daemons = NodeDaemons(cls.cluster, cls.gpus, build)
        cls.daemons.start()
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))
        cls.start_keeper(build)

    @classmethod
    def start_keeper(cls, build):
        cls.cluster.apply(writer_permissions())
        token = cls.cluster.directory / "extender.token"
        token.write_text(cls.cluster.kubectl("create", "token", _EXTENDER, "--namespace", NAMESPACE).strip())
        authority = cls.cluster.setup.certificates.authority
        cls.cluster.start("profile-keeper", [str(build.program("profile_keeper")), cls.cluster.server, str(authority),
                                             str(token)])

    def jobs_of(self, node):
        """By name, those whose figures are all there, once they have ended."""
        found = {}

        def complete(gpu_node):
            for job in (gpu_node or {}).get("status", {}).get("jobs", []):
                if job["ended"] and job.get("meetings"):
                    found[job["gang"]] = job
            return len(found) == 2
        self.cluster.wait_for("gpunode", node.name, complete, timeout_s=_PATIENCE_S)
        return found

    def test_two_jobs_become_profiles(self):
        ranks = self.gpus.machine.ranks
        jobs = [TrainingJob(self.cluster, _TEAM, _SHAPE.job(name, seed), ranks,
                            annotations={"crossover.dev/profile-key": f"key of {name}"})
                for seed, name in enumerate(("alpha", "beta"), 1)]
        for job in jobs:
            job.create()
        for job in jobs:
            job.bind_everywhere(self.gpus.machine)
        compute_s = [evaluate.solo_of(job.finish(), _SHAPE.warm_up).compute_ms / 1000 for job in jobs]
        for node in self.cluster.nodes:
            found = self.jobs_of(node)
            for job, own in zip(jobs, compute_s):
                said = found[f"{_TEAM}/{job.name}"]
                self.assertEqual((said["profileKey"], said["gpus"], said["gangSize"]),
                                 (f"key of {job.name}", ranks // 2, ranks))
                self.assertAlmostEqual(said["computeSeconds"], own, delta=_WITHIN * own)
                self.assertGreater(said["exposedSeconds"], 0)
                beside = [peer["gang"] for meeting in said["meetings"] for peer in meeting["beside"]]
                self.assertEqual(beside, [f"{_TEAM}/{other.name}" for other in jobs if other is not job])
        for job, own, other in zip(jobs, compute_s, reversed(jobs)):
            self.check_profile(job, own, other, ranks)

    def check_profile(self, job, own, other, ranks):
        """That of a job's key, which the merge of both nodes makes."""
        def whole(status):
            return status.get("gpus") == ranks and status.get("computeSeconds") and status.get("meetings")
        names = []

        def made(_):
            profiles = self.cluster.get("jobprofiles", namespace=_TEAM)
            names[:] = [p for p in profiles if p["spec"]["key"] == f"key of {job.name}" and whole(p.get("status", {}))]
            return bool(names)
        self.cluster.wait_for("gpunode", self.cluster.nodes[0].name, made, timeout_s=_PATIENCE_S)
        status = names[0]["status"]
        self.assertAlmostEqual(status["computeSeconds"], own, delta=_WITHIN * own)
        self.assertEqual(status["meetings"][0]["key"], f"key of {other.name}")
        self.assertEqual([run["gang"] for run in status["runs"]], [f"{_TEAM}/{job.name}"])
        self.assertIn(f"{status['gpus']}", self.cluster.kubectl("get", "jobprofiles", "--namespace", _TEAM))

    def test_what_other_pods_ask_for_and_who_holds_slots_unmanaged(self):
        node, uuid = self.cluster.nodes[1], self.gpus.uuids(1)[0]
        before = self.cluster.wait_for("gpunode", node.name, lambda n: n and "requested" in n["status"])
        pod = with_slots("plain", "crossover.test/trainer:1", ["/bin/sh", "-c", "read x"], node.name, stdin=None)
        pod["spec"].pop("stdin")
        pod["spec"]["containers"][0]["stdin"] = True
        pod["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "100m", "memory": "32Mi"}
        pod["metadata"]["annotations"] = {"crossover.dev/assignment": f'{{"containers": {{"main": ["{uuid}"]}}}}'}
        self.cluster.apply(pod | {"metadata": pod["metadata"] | {"namespace": _TEAM}})

        def counted(gpu_node):
            status, was = gpu_node["status"], before["status"]["requested"]
            holders = [h["pod"] for gpu in status["gpus"] for h in gpu.get("holders", [])]
            now = status["requested"]
            return ("plain" in holders and now["milliCPU"] == was["milliCPU"] + 100
                    and now["memoryBytes"] == was["memoryBytes"] + (32 << 20)
                    and now["others"].get("crossover.dev/slot") == 1)
        self.cluster.wait_for("gpunode", node.name, counted, timeout_s=_PATIENCE_S)
        self.cluster.kubectl("delete", "pod", "plain", "--namespace", _TEAM, "--now")


if __name__ == "__main__":
    unittest.main()

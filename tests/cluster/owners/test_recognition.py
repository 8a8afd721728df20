"""Tests jobs of real operators: JobSet, LeaderWorkerSet, Kueue, Kubeflow's MPI operator and training operator. Each is
built from its Go module and installed as its makers say. Every gang must be recognised, and jobs without our
annotations must be left alone.
"""

import copy
import json
import unittest

from testing.cluster.gang_cluster import FAKE, POOL, SPACE
from testing.cluster.pods import SLOT
from testing.cluster.rig.kwok import RUNS_FOR
from tests.cluster.owners.operator_case import GPUS, OneGang, OperatorCase
from tests.cluster.owners.operator_jobs import example, plain, templates, without_gpus

_QUEUE = "kueue.x-k8s.io/queue-name"


class JobSets(OneGang, OperatorCase):
    OPERATORS = ("jobset",)

    def make(self, name):
        return example("jobset.yaml", name)

    def parts(self, name, *sizes):
        """Returns a JobSet with parts part-0, part-1 and so on, of so many pods each, and the list of the parts."""
        job = self.make(name)
        [usual] = job["spec"]["replicatedJobs"]
        job["spec"]["replicatedJobs"] = parts = [copy.deepcopy(usual) for _ in sizes]
        for number, (part, size) in enumerate(zip(parts, sizes)):
            part["name"] = f"part-{number}"
            part["template"]["spec"] |= {"completions": size, "parallelism": size}
        return job, parts

    def test_several_parts_are_one_gang(self):
        job, parts = self.parts("parts", 1, 2)
        parts[1]["replicas"] = 2
        self.one_gang(self.create(job), 5)

    def test_a_part_without_gpus_takes_no_part(self):
        job, parts = self.parts("driver", 1, 3)
        [template] = templates(parts[0])
        parts[0]["template"]["spec"]["template"] = without_gpus(template)
        self.one_gang(self.create(job), 3)
        self.until(lambda: len(self.eyes.places("driver")) == 4, "the part without GPUs runs too")

    def test_a_part_with_whole_gpus_takes_no_part(self):
        job, parts = self.parts("mixed", 2, 3)
        plain(parts[0])
        self.one_gang(self.create(job), 3)
        self.until(lambda: len(self.eyes.places("mixed")) == 5, "the part with whole GPUs runs too")

    def in_stages(self, job, name):
        """Asserts that each part is a gang, and that the second comes once the first runs."""
        self.create(job)
        first = self.one_gang(f"{name}-part-0", 2)
        second = self.one_gang(f"{name}-part-1", 3)
        self.assertEqual(set(self.gpus(first)) & set(self.gpus(second)), set())

    def test_parts_in_order_are_a_gang_each(self):
        job, _ = self.parts("ordered", 2, 3)
        job["spec"]["startupPolicy"] = {"startupPolicyOrder": "InOrder"}
        self.in_stages(job, "ordered")

    def test_parts_that_depend_on_others_are_a_gang_each(self):
        job, parts = self.parts("depends", 2, 3)
        parts[1]["dependsOn"] = [{"name": "part-0", "status": "Ready"}]
        self.in_stages(job, "depends")

    def test_an_attempt_after_a_failure_is_a_gang_again(self):
        job = self.make("again")
        job["spec"]["failurePolicy"] = {"maxRestarts": 3}
        for part in job["spec"]["replicatedJobs"]:
            part["template"]["spec"]["backoffLimit"] = 0
            del part["template"]["spec"]["podFailurePolicy"]
        self.create(job)
        first = self.one_gang("again", self.SIZE)
        self.delete_pod(sorted(first)[0])  # with backoffLimit 0 its Job fails, and the whole JobSet restarts
        self.until(lambda: not {place.uid for place in first.values()} &
                   {place.uid for place in self.eyes.places("again").values()}, "all pods are others")
        second = self.one_gang("again", self.SIZE)
        self.assertNotEqual({place.plan for place in first.values()}, {place.plan for place in second.values()})

    def test_a_pod_that_comes_again_gets_its_gangs_gpu(self):
        job = self.make("replaced")
        self.create(job)
        self.replaced("replaced")


class LeaderWorkerSets(OneGang, OperatorCase):
    OPERATORS = ("lws",)

    def make(self, name):
        return example("leaderworkerset.yaml", name)

    def test_each_replica_is_a_gang(self):
        job = self.make("twice")
        job["spec"]["replicas"] = 2
        self.create(job)
        places = self.places("twice", GPUS)
        self.assertEqual(len(self.gpus(places)), len(set(self.gpus(places))))
        for replica in range(2):
            own = {name: place for name, place in places.items() if name.split("-")[1] == str(replica)}
            self.assertEqual((len(own), len({place.plan for place in own.values()})), (self.SIZE, 1), own)
        self.assertEqual(len({place.plan for place in places.values()}), 2)

    def test_workers_that_wait_for_their_leader_are_a_gang_of_their_own(self):
        job = self.make("ready")
        job["spec"]["startupPolicy"] = "LeaderReady"
        self.create(job)
        places = self.places("ready", self.SIZE)
        leader = places.pop("ready-0")
        self.assertEqual(len({place.plan for place in places.values()}), 1)
        self.assertNotIn(leader.plan, {place.plan for place in places.values()})
        self.assertEqual(len({leader.gpus[0], *self.gpus(places)}), self.SIZE)

    def test_a_group_that_is_made_again_is_whole_again(self):
        self.create(self.make("group"))
        first = self.one_gang("group", self.SIZE)
        # RecreateGroupOnPodRestart is the default: the leader goes, and all workers with it.
        self.delete_pod_in_sight("group-0-1", lambda: first["group-0"].uid not in
                                 {place.uid for place in self.eyes.places("group").values()})
        self.until(lambda: not {place.uid for place in first.values()} &
                   {place.uid for place in self.eyes.places("group").values()}, "all pods are others")
        second = self.places("group", self.SIZE)
        self.assertEqual(len(set(self.gpus(second))), self.SIZE)


class KueueJobs(OneGang, OperatorCase):
    """The jobs are in a queue that has as many GPUs as two of them ask for."""

    OPERATORS = ("jobset", "kueue")

    @classmethod
    def prepare(cls):
        case = cls()
        case.add("ResourceFlavor", "any", {})
        # The queue has whole GPUs, since Kueue counts what users write in their templates. It has slots for pods that
        # no controller owns.
        case.queue("any", {"nvidia.com/gpu": 2 * cls.SIZE, SLOT: cls.SIZE})

    def add(self, kind, name, spec):
        self.put({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec})

    def queue(self, name, quotas):
        """Creates a queue, with the flavor of the same name."""
        resources = [{"name": resource, "nominalQuota": quota} for resource, quota in quotas.items()]
        groups = [{"coveredResources": list(quotas), "flavors": [{"name": name, "resources": resources}]}]
        self.add("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": groups})
        self.add("LocalQueue", name, {"clusterQueue": name})

    def make(self, name):
        job = example("indexed-job.yaml", name, "Job")
        job["metadata"]["labels"] = {_QUEUE: "any"}
        return job

    def test_a_job_of_its_own_kind_comes_through_a_queue(self):
        job = example("jobset.yaml", "set")
        job["metadata"]["labels"] = {_QUEUE: "any"}
        self.one_gang(self.create(job), self.SIZE)

    def test_a_job_that_is_let_in_later_is_planned_only_then(self):
        first, second, late = (self.make(name) for name in ("first", "second", "late"))
        for job in (first, second):
            self.one_gang(self.create(job), self.SIZE)
        self.create(late, pods=False)
        self.until(lambda: self.waits_in_queue("job-late"), "it waits in its queue")
        self.assertEqual(self.eyes.ever("late"), [])
        self.end(first)
        self.one_gang("late", self.SIZE)

    def test_a_quota_of_the_gpus_alone_keeps_the_second_job_out(self):
        self.add("ResourceFlavor", "tight", {})
        self.queue("tight", {"nvidia.com/gpu": self.SIZE})
        first, second = (self.make(name) for name in ("tight-first", "tight-second"))
        for job in (first, second):
            job["metadata"]["labels"] = {_QUEUE: "tight"}
        self.one_gang(self.create(first), self.SIZE)
        self.create(second, pods=False)
        self.until(lambda: self.waits_in_queue("job-tight-second"), "it waits in its queue, though slots are free")
        quota = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
        self.world.cluster.kubectl("patch", "clusterqueue", "tight", "--type", "json", "--patch", json.dumps(
            [{"op": "replace", "path": quota, "value": 2 * self.SIZE}]))
        self.one_gang("tight-second", self.SIZE)

    def test_pods_that_queue_as_a_group_are_planned_once_they_are_let_in(self):
        self.create_group("early")
        self.one_gang("early", self.SIZE)
        self.create_group("queued")
        self.until(lambda: len(self.eyes.told("queued")) == self.SIZE, "they are told why they wait")
        for text in self.eyes.told("queued").values():
            self.assertIn("no other scheduling gate", text)
        self.finish_group("early")
        self.one_gang("queued", self.SIZE)
        self.assertEqual(set().union(*(seen.gates for seen in self.eyes.ever("queued"))), set())

    def create_group(self, name):
        """Creates a group of pods that no controller owns."""
        [template] = templates(self.make(name))
        labels = {_QUEUE: "any", "kueue.x-k8s.io/pod-group-name": name}
        marks = {"kueue.x-k8s.io/pod-group-total-count": str(self.SIZE), **template["metadata"]["annotations"]}
        for rank in range(self.SIZE):
            self.put({"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
                      "metadata": {"name": f"{name}-{rank}", "labels": labels, "annotations": marks}})
        self.stack.callback(self.finish_group, name)
        self.until(lambda: len(self.eyes.pods(name)) == self.SIZE, f"the pods of {name} are seen")

    def finish_group(self, name):
        """Ends the pods of a group and deletes them. Kueue lets pods of a group go only once all have ended."""
        pods = [pod["metadata"]["name"] for pod in self.eyes.pods(name)]
        if not pods:
            return
        kubectl = self.world.cluster.kubectl
        kubectl("annotate", "pods", *pods, f"{RUNS_FOR}=1s", "--namespace", SPACE, "--overwrite")
        self.until(lambda: all(pod["status"]["phase"] == "Succeeded" for pod in self.eyes.pods(name)), f"{name} ended")
        kubectl("delete", "pods", *pods, "--namespace", SPACE, "--wait=false")

    def test_pods_that_kueue_itself_places_share_nothing(self):
        name = "topology"
        levels = [{"nodeLabel": POOL}, {"nodeLabel": "kubernetes.io/hostname"}]
        self.add("Topology", name, {"levels": levels})
        self.add("ResourceFlavor", name, {"nodeLabels": {POOL: FAKE}, "topologyName": name})
        self.queue(name, {SLOT: self.SIZE})
        job = self.make(name)
        job["metadata"]["labels"] = {_QUEUE: name}
        [template] = templates(job)
        del template["spec"]["nodeSelector"]  # the flavor of its queue sets it
        for container in template["spec"]["containers"]:
            container["resources"] = {"limits": {SLOT: "1"}}  # its nodes have some, and Kueue knows it
        places = self.places(self.create(job), self.SIZE)
        self.assertEqual(len(set(self.gpus(places))), self.SIZE)
        self.assertEqual(len({place.plan for place in places.values()}), self.SIZE, "each by itself")
        self.fill(GPUS - self.SIZE)
        waits = self.make("beside-it")
        del waits["metadata"]["labels"]
        self.waits_whole(self.create(waits), self.SIZE)

    def waits_in_queue(self, prefix):
        workloads = self.world.cluster.get("workloads.kueue.x-k8s.io", namespace=SPACE)
        return any(condition["type"] == "QuotaReserved" and condition["status"] == "False"
                   for workload in workloads if workload["metadata"]["name"].startswith(prefix)
                   for condition in workload.get("status", {}).get("conditions", ()))


class MpiJobs(OneGang, OperatorCase):
    OPERATORS = ("mpi-operator",)

    def make(self, name):
        return example("mpijob.yaml", name)

    def launched(self, name, policy):
        job = self.make(name)
        job["spec"]["launcherCreationPolicy"] = policy
        self.create(job)
        self.one_gang(name, self.SIZE)
        launcher = f"{name}-launcher"
        self.until(lambda: self.eyes.places(launcher), "its launcher runs")
        self.assertEqual([seen.marks for seen in self.eyes.ever(launcher)], [set()])

    def test_its_launcher_takes_no_part(self):
        self.launched("launched", "WaitForWorkersReady")

    def test_a_launcher_from_the_start_takes_no_part(self):
        self.launched("at-once", "AtStartup")

    def test_a_launcher_that_is_a_rank_is_one_of_its_gang(self):
        job = self.make("rank")
        parts = job["spec"]["mpiReplicaSpecs"]
        job["spec"] |= {"runLauncherAsWorker": True, "launcherCreationPolicy": "AtStartup"}
        parts["Launcher"]["template"] = copy.deepcopy(parts["Worker"]["template"])
        self.one_gang(self.create(job), self.SIZE + 1)

    def test_a_worker_that_comes_again_gets_its_gangs_gpu(self):
        self.create(self.make("replaced"))
        self.replaced("replaced")


class PyTorchJobs(OneGang, OperatorCase):
    OPERATORS = ("training-operator",)

    def make(self, name):
        return example("pytorchjob.yaml", name)

    def test_a_master_without_gpus_takes_no_part(self):
        job = self.make("driver")
        master = job["spec"]["pytorchReplicaSpecs"]["Master"]
        master["template"] = without_gpus(master["template"])
        self.one_gang(self.create(job), 3)
        self.until(lambda: "driver-master-0" in self.eyes.places("driver"), "the master runs too")

    def test_an_elastic_job_begins_with_its_minimum_and_grows(self):
        filler = self.fill(GPUS - self.SIZE + 1)
        job = self.make("elastic")
        workers = job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"]
        job["spec"]["elasticPolicy"] = {"minReplicas": workers - 1, "maxReplicas": workers}
        begun = self.places(self.create(job), self.SIZE - 1)
        self.world.remove(filler)
        grown = self.places("elastic", self.SIZE)
        self.assertEqual({pod: grown[pod] for pod in begun}, begun)

    def test_a_worker_that_comes_again_gets_its_gangs_gpu(self):
        job = self.make("replaced")
        for part in job["spec"]["pytorchReplicaSpecs"].values():
            part["restartPolicy"] = "OnFailure"
        self.create(job)
        self.replaced("replaced")


if __name__ == "__main__":
    unittest.main()

"""Tests jobs of real operators in each event of lives.py. The jobs are the examples, where there is one."""

import copy
import unittest

from testing.cluster.pods import SLOT
from tests.cluster.owners.lives import DRAIN, EVICTION, LOSS, Lives, REBOOT, SUCCESS, SUSPENSION, uids
from tests.cluster.owners.operator_case import OperatorCase
from tests.cluster.owners.operator_jobs import example, templates
from tests.cluster.owners.pod_maker import Made

_QUEUE = "kueue.x-k8s.io/queue-name"
_GPU = "nvidia.com/gpu"


class JobSets(Lives, OperatorCase):
    OPERATORS = ("jobset",)

    def make(self, name):
        return example("jobset.yaml", name)

    def test_as_the_example_was_an_eviction_ends_it(self):
        """In the control an eviction counts as a failure, and one failure ends the job, as it was in the example."""
        job = self.make("strict")
        del job["spec"]["failurePolicy"]
        for part in job["spec"]["replicatedJobs"]:
            del part["template"]["spec"]["podFailurePolicy"]
            part["template"]["spec"]["backoffLimit"] = 0
        self.ends_by_an_eviction(job)


class LeaderWorkerSets(Lives, OperatorCase):
    OPERATORS = ("lws",)
    TOGETHER = True
    NOT = {SUCCESS: "restartPolicy is Always: a container that ends is started again, and no pod succeeds",
           SUSPENSION: "it has no field that suspends it"}

    def make(self, name):
        return example("leaderworkerset.yaml", name)

    def test_without_the_extender_a_pod_stays_away(self):
        self.stays_away_without_the_extender()

    def test_all_pods_are_made_again_where_an_eviction_is_seen(self):
        """Pods that KWOK plays go at once, and the operator may look too late to see it. So a finalizer keeps one."""
        job, before = self.begin("group", EVICTION)
        self.delete_pod_in_sight(before[-1]["metadata"]["name"],
                                 lambda: not uids(before[:1]) & uids(self.living("group")), self.evict_by_name)
        self.until_whole(job, self.SIZE, before)


class MpiJobs(Lives, OperatorCase):
    OPERATORS = ("mpi-operator",)
    NOT = {REBOOT: "the operator leaves a worker that has failed as it is, and makes it again once it is deleted"}
    RESUMED = Lives.SIZE  # when it is suspended, all its workers go

    def make(self, name):
        return example("mpijob.yaml", name)

    def test_a_worker_that_a_reboot_ended_stays_as_it_is(self):
        """The operator makes another worker again meanwhile, so it has looked at the job."""
        job, before = self.begin("stays", EVICTION)
        _, taken = self.fullest(before)
        [*_, other] = [pod for pod in before if pod not in taken]
        self.refuse(taken)
        self.evict(other)
        self.until_whole(job, self.SIZE - len(taken), [*taken, other])
        self.assertLessEqual(uids(taken), uids(self.eyes.pods("stays")))

    def test_a_worker_that_a_reboot_ended_comes_back_once_it_is_deleted(self):
        job, before = self.begin("refused", EVICTION)
        _, taken = self.fullest(before)
        self.refuse(taken)
        self.until(lambda: not uids(taken) & uids(self.living("refused")), "the workers have failed")
        for pod in taken:
            self.delete_pod(pod["metadata"]["name"])
        self.comes_back(job, before, taken, self.SIZE)

    def suspended(self, yes):
        return {"spec": {"runPolicy": {"suspend": yes}}}


class Kubeflow(Lives):
    """Kubeflow is mixed into cases of the kinds of its training operator. When one is suspended, all its pods go, and
    all come back."""

    OPERATORS = ("training-operator",)
    RESUMED = Lives.SIZE
    IN_SIGHT = True

    def suspended(self, yes):
        return {"spec": {"runPolicy": {"suspend": yes}}}

    def of_kind(self, name, kind, specs, container):
        """Returns the example of a PyTorchJob as another kind, with four workers."""
        job = example("pytorchjob.yaml", name)
        part = job["spec"].pop("pytorchReplicaSpecs")["Worker"] | {"replicas": self.SIZE}
        part["template"]["spec"]["containers"][0]["name"] = container
        return {**job, "kind": kind, "spec": {**job["spec"], specs: {"Worker": part}}}

    def test_as_the_example_was_an_eviction_ends_it(self):
        """In the control a pod that failed is not made again, as it was in the example before."""
        job = self.make("strict")
        [specs] = [parts for name, parts in job["spec"].items() if name.endswith("ReplicaSpecs")]
        for part in specs.values():
            part["restartPolicy"] = "Never"
        self.ends_by_an_eviction(job)


class PyTorchJobs(Kubeflow, OperatorCase):
    def make(self, name):
        return example("pytorchjob.yaml", name)


class TfJobs(Kubeflow, OperatorCase):
    _ENDS = "the operator sometimes ends a TFJob of which a worker was evicted, also with restartPolicy ExitCode"
    NOT = {SUCCESS: _ENDS, EVICTION: _ENDS, DRAIN: _ENDS, LOSS: _ENDS, REBOOT: _ENDS}
    SUCCEEDS_FIRST = False

    def make(self, name):
        return self.of_kind(name, "TFJob", "tfReplicaSpecs", "tensorflow")


class XgBoostJobs(Kubeflow, OperatorCase):
    def make(self, name):
        job = self.of_kind(name, "XGBoostJob", "xgbReplicaSpecs", "xgboost")
        parts = job["spec"]["xgbReplicaSpecs"]
        parts["Master"] = copy.deepcopy(parts["Worker"]) | {"replicas": 1}  # it must have one
        parts["Worker"]["replicas"] = self.SIZE - 1
        return job


class PaddleJobs(Kubeflow, OperatorCase):
    def make(self, name):
        return self.of_kind(name, "PaddleJob", "paddleReplicaSpecs", "paddle")


class JaxJobs(Kubeflow, OperatorCase):
    def make(self, name):
        return self.of_kind(name, "JAXJob", "jaxReplicaSpecs", "jax")


class RayClusters(Lives, OperatorCase):
    OPERATORS = ("kuberay",)
    NOT = {SUCCESS: "workers are servers: one that ends is made again, and no pod succeeds"}
    RESUMED = Lives.SIZE

    def make(self, name):
        job = example("raycluster.yaml", name)
        [workers] = job["spec"]["workerGroupSpecs"]
        workers["template"]["metadata"]["annotations"]["crossover.dev/gang"] = name
        return job

    def test_without_the_extender_a_pod_stays_away(self):
        self.stays_away_without_the_extender()


class KueuePodGroups(Made, OperatorCase):
    """The pods have no owner. The test makes them again, as Kueue asks of users."""

    OPERATORS = ("kueue",)
    # Kueue keeps a pod of a group until another has replaced it.
    RENAMED, DRAIN = True, ("--skip-wait-for-delete-timeout=1",)
    NOT = {SUSPENSION: "Kueue suspends a group by deleting its pods, and a user who made them makes none again"}

    @classmethod
    def prepare(cls):
        cls().queue()

    def queue(self):
        name = "any"
        resources = [{"name": resource, "nominalQuota": 100} for resource in (_GPU, SLOT)]
        groups = [{"coveredResources": [_GPU, SLOT], "flavors": [{"name": name, "resources": resources}]}]
        for kind, spec in (("ResourceFlavor", {}), ("LocalQueue", {"clusterQueue": name}),
                           ("ClusterQueue", {"namespaceSelector": {}, "resourceGroups": groups})):
            self.put({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec})

    def make(self, name):
        [template] = templates(example("indexed-job.yaml", name, "Job"))
        template["metadata"] |= {"labels": {_QUEUE: "any", "kueue.x-k8s.io/pod-group-name": name}}
        template["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"] = str(self.SIZE)
        return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": name}, "template": template}

    def test_without_the_extender_a_pod_stays_away(self):
        self.stays_away_without_the_extender()


if __name__ == "__main__":
    unittest.main()

"""Tests jobs whose owners Kubernetes has by itself, or that Crossover does not know, in each event of lives.py: Jobs,
StatefulSets, Deployments, pods without an owner, and pods of an operator of the test's.
"""

import unittest

from testing.cluster.gang_cluster import SPACE
from tests.cluster.owners.lives import EachAlone, Lives, SUCCESS
from tests.cluster.owners.operator_case import OperatorCase
from tests.cluster.owners.operator_jobs import example, templates
from tests.cluster.owners.pod_maker import Made

_GROUP = "crossover.test"
_TRAININGS = f"/apis/{_GROUP}/v1/namespaces/{SPACE}/trainings"
_ALWAYS = "restartPolicy is Always: a container that ends is started again, and no pod succeeds"


def template_of(name, **annotations):
    """Returns the pods' template of the example of a Job."""
    [template] = templates(example("indexed-job.yaml", name, "Job"))
    template["metadata"] |= {"labels": {"app": name}}
    template["metadata"]["annotations"] |= annotations
    return template


class IndexedJobs(Lives, OperatorCase):
    """The job is the example."""

    def make(self, name):
        return example("indexed-job.yaml", name, "Job")


class JobsWithoutIndex(EachAlone, OperatorCase):
    def make(self, name):
        job = example("indexed-job.yaml", name, "Job")
        job["spec"]["completionMode"] = "NonIndexed"
        return job


class Replicated(EachAlone):
    """Replicated is mixed into cases of kinds with `replicas`, which are suspended by having none."""

    NOT = {SUCCESS: _ALWAYS}
    RESUMED = Lives.SIZE

    def suspended(self, yes):
        return {"spec": {"replicas": 0 if yes else self.SIZE}}

    def replicated(self, kind, name, **spec):
        template = template_of(name)
        template["spec"]["restartPolicy"] = "Always"
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
                "spec": {"replicas": self.SIZE, "selector": {"matchLabels": {"app": name}}, "template": template,
                         **spec}}


class StatefulSets(Replicated, OperatorCase):
    def make(self, name):
        return self.replicated("StatefulSet", name, serviceName="none", podManagementPolicy="Parallel")


class Deployments(Replicated, OperatorCase):
    def make(self, name):
        return self.replicated("Deployment", name)


class BarePods(Made, OperatorCase):
    """The pods have annotations that say which are one gang, and no owner. A PodTemplate says what they are."""

    # Pods of the same gang that have succeeded may be left over from an earlier one while none of them runs: the gang
    # then waits for all of its pods.
    SUCCEEDS_FIRST, RESUMED = False, Lives.SIZE
    _suspended = False

    def make(self, name):
        gang = {"crossover.dev/gang": name, "crossover.dev/gang-size": str(self.SIZE)}
        return {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": name},
                "template": template_of(name, **gang)}

    def test_without_the_extender_a_pod_stays_away(self):
        self.stays_away_without_the_extender()

    def suspend(self, job, yes):
        self._suspended = yes

    def is_suspended(self, _name):
        return self._suspended


class UnknownOwners(Made, EachAlone, OperatorCase):
    """The pods are those of an operator whose kind Crossover does not know."""

    @classmethod
    def prepare(cls):
        name, schema = f"trainings.{_GROUP}", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        cls.world.cluster.apply({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
            "spec": {"group": _GROUP, "scope": "Namespaced", "names": {"kind": "Training", "plural": "trainings"},
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": schema}}]}})
        cls.world.cluster.kubectl("wait", "--for=condition=Established", "crd", name)

    def make(self, name):
        return {"apiVersion": f"{_GROUP}/v1", "kind": "Training", "metadata": {"name": name},
                "spec": {"suspend": False, "template": template_of(name)}}

    def is_suspended(self, name):
        return self.world.api.get(f"{_TRAININGS}/{name}")["spec"]["suspend"]

    def owner(self, name):
        uid = self.world.api.get(f"{_TRAININGS}/{name}")["metadata"]["uid"]
        return {"apiVersion": f"{_GROUP}/v1", "kind": "Training", "name": name, "uid": uid, "controller": True}


if __name__ == "__main__":
    unittest.main()

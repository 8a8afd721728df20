"""Provides a test case for jobs of operators. It has a cluster with one or several of them
(testing/cluster/operators.py) and Crossover. KWOK plays two nodes of four shared GPUs each, and two more with whole
GPUs.
"""

import contextlib
import json
import os
import unittest
from pathlib import Path

from testing.cluster import operators
from testing.cluster.gang_cluster import FAKE, GangCluster, PODS, POOL, SPACE
from testing.cluster.gangs import ANNOTATED
from testing.cluster.rig import kwok
from testing.cluster.rig.api import Watch
from testing.commands import Build
from testing.processes import Failed
from tests.cluster.owners.half_jobs import HalfJobs
from tests.cluster.owners.job_eyes import JobEyes
from tests.cluster.owners.operator_jobs import WHOLE, plain

_NODES, _GPUS = 2, 4
GPUS = _NODES * _GPUS
PATIENCE_S = 60.0
_CONTROL_S = 15.0  # s; how long a control waits for what is known not to happen
_HELD = "crossover.test/held"  # a finalizer


class OperatorCase(unittest.TestCase):
    """Installs the class's `OPERATORS`, in this order. `make(name)` returns a job of `SIZE` pods that share. `CONTROL`
    has more arguments of Control."""

    OPERATORS = ()
    NODES, NODE_GPUS = _NODES, _GPUS
    CONTROL = {}
    SIZE = 4
    patience_s = PATIENCE_S

    @classmethod
    def setUpClass(cls):
        with contextlib.ExitStack() as stack:
            cls.world = stack.enter_context(GangCluster(Build(Path(os.environ["BUILD"])), cls.NODES, cls.NODE_GPUS,
                                                        control={"webhook": True, **cls.CONTROL}))
            kwok.create_nodes(cls.world.api, ["whole-0", "whole-1"], {"nvidia.com/gpu": str(_GPUS)}, {POOL: WHOLE})
            # Operators add to users' pods what the stricter level of other tests' namespaces would refuse.
            cls.world.cluster.namespace(SPACE, enforce="privileged")
            for name in cls.OPERATORS:
                operators.install(cls.world.cluster, name)
            cls.eyes, cls.halves = JobEyes(), HalfJobs()
            for path, on_event in ((PODS, cls.eyes.on_pod), (PODS, cls.halves.on_pod),
                                   (f"/api/v1/namespaces/{SPACE}/events", cls.eyes.on_event)):
                stack.enter_context(Watch(stack.enter_context(contextlib.closing(cls.world.cluster.api())), path,
                                          on_event, patient=True))
            cls.prepare()
            cls.addClassCleanup(stack.pop_all().close)

    @classmethod
    def prepare(cls):
        """Creates what an operator needs beside itself. A class overrides it."""

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def tearDown(self):
        self.assertEqual(self.world.judge.overfull, {})
        self.assertEqual(self.world.judge.two_ranks, {})

    # These methods act on jobs.

    def create(self, job, pods=True):
        """Creates a job, and deletes it and its pods when the test ends. With `pods` it waits for the first pod."""
        self.put(job)
        name = job["metadata"]["name"]
        self.stack.callback(self.end, job)
        if pods:
            self.until(lambda: self.eyes.pods(name), f"{name} has pods")
        return name

    def put(self, thing):
        """Creates an object. It tries again while an operator's webhook, which has only now come up, cannot be
        reached."""
        def taken():
            done = self.world.cluster.kubectl("create", "--namespace", SPACE, "--filename", "-", check=False,
                                              input=json.dumps(thing))
            if done.returncode == 0:
                return True
            if "failed calling webhook" not in done.stderr:
                raise Failed(done.stderr)
            return False
        self.until(taken, f"{thing['kind']} {thing['metadata']['name']} is made")

    def end(self, job):
        """Deletes a job and blocks until its pods are gone."""
        name = job["metadata"]["name"]
        self.world.cluster.kubectl("delete", job["kind"].lower(), name, "--namespace", SPACE, "--ignore-not-found",
                                   "--wait=false")
        self.world.until(lambda: not self.eyes.pods(name), f"the pods of {name} are gone")

    def until(self, condition, what):
        try:
            self.world.until(condition, what, self.patience_s)
        except Failed as failure:
            raise Failed(f"{failure}; told: {self.eyes.told('')}") from failure

    def fill(self, gpus):
        """Creates a gang of exclusive pods on this many GPUs and returns its name."""
        name = f"filler-{gpus}"
        self.world.create(name, gpus, how=ANNOTATED, annotations={"crossover.dev/share": "exclusive"},
                          nodeSelector={POOL: FAKE})
        self.stack.callback(self.world.remove, name)
        self.world.until_whole(name)
        return name

    def delete_pod(self, name):
        self.world.api.delete(f"{PODS}/{name}")

    def delete_pod_in_sight(self, name, seen, delete=None):
        """Deletes a pod, by `delete` if it is given, and keeps it with a finalizer until its operator has seen the
        deletion (`seen`). Pods that KWOK plays go at once: an operator that looks late would not know that it has to
        replace the pod."""
        path = f"{PODS}/{name}"
        self.world.api.merge(path, {"metadata": {"finalizers": [_HELD]}})
        try:
            (delete or self.delete_pod)(name)
            self.until(seen, f"it is seen that {name} is on its way out")
        finally:
            self.world.api.merge(path, {"metadata": {"finalizers": None}})

    def places(self, job, size):
        """Returns the places of the job's pods that share, once `size` of them are bound."""
        def ours():
            return {name: place for name, place in self.eyes.places(job).items() if place.gpus}
        self.until(lambda: len(ours()) >= size, f"{size} pods of {job} are bound with GPUs")
        return ours()

    # These methods check what jobs do.

    def one_gang(self, job, size):
        """Asserts that the pods are bound by one plan, each with a GPU of its own. Returns their places."""
        places = self.places(job, size)
        self.assertEqual(len(places), size, f"pods of {job} with GPUs: {sorted(places)}")
        self.assertEqual(len({place.plan for place in places.values()} - {""}), 1, f"plans of {job}: {places}")
        self.assertEqual(len({gpu for place in places.values() for gpu in place.gpus}), size, places)
        return places

    def gpus(self, places):
        return sorted(gpu for place in places.values() for gpu in place.gpus)

    def waits_whole(self, job, size):
        """Asserts that no pod is planned or bound while there are too few GPUs for all of them."""
        self.until(lambda: len(self.eyes.told(job)) == size, f"{size} pods of {job} are told why they wait")
        self.assertEqual(len(self.eyes.sharing(job)), size)
        self.assertEqual(self.eyes.sharing(job) & set(self.eyes.places(job)), set())
        self.assertEqual([seen.plans for seen in self.eyes.ever(job) if seen.plans], [])

    def left_alone(self, job, size):
        """Asserts that the pods run on nodes with whole GPUs, and never had an annotation, label or gate of ours."""
        self.until(lambda: len(self.eyes.places(job)) >= size, f"{size} pods of {job} are bound")
        self.assertEqual({mark for seen in self.eyes.ever(job) for mark in seen.marks}, set())
        self.assertEqual({place.node.partition("-")[0] for place in self.eyes.places(job).values()}, {WHOLE})

    def replaced(self, job):
        """Deletes a pod, whose owner makes it again, and asserts that the new one gets the GPU of the lost one."""
        before = self.one_gang(job, self.SIZE)
        lost = sorted(before)[-1]
        self.delete_pod(lost)
        self.until(lambda: before[lost] not in self.eyes.places(job).values(), f"{lost} is gone")
        after = self.places(job, self.SIZE)
        self.assertEqual(self.gpus(before), self.gpus(after))
        kept = {place.uid for place in before.values()} & {place.uid for place in after.values()}
        self.assertEqual(len(kept), self.SIZE - 1)


class OneGang:
    """OneGang has the tests that every operator's job of four pods must pass. It is mixed into an OperatorCase."""

    def test_its_pods_are_one_gang(self):
        filler = self.fill(GPUS - self.SIZE + 1)
        job = self.create(self.make("too-few"))
        self.waits_whole(job, self.SIZE)
        self.world.remove(filler)
        self.one_gang(job, self.SIZE)

    def test_two_jobs_meet_pairwise(self):
        self.fill(GPUS - self.SIZE)
        alpha = self.one_gang(self.create(self.make("alpha")), self.SIZE)
        beta = self.one_gang(self.create(self.make("beta")), self.SIZE)
        self.assertEqual(self.gpus(alpha), self.gpus(beta))

    def test_without_the_annotation_it_is_left_alone(self):
        self.left_alone(self.create(plain(self.make("plain"))), self.SIZE)

    # Each control expects of a job what holds for another, and must fail.

    def control_a_gang_without_the_annotation(self):
        self.patience_s = _CONTROL_S
        self.one_gang(self.create(plain(self.make("no-gang"))), self.SIZE)

    def control_left_alone_with_the_annotation(self):
        self.patience_s = _CONTROL_S
        self.left_alone(self.create(self.make("no-stranger")), self.SIZE)

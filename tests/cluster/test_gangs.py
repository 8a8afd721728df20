"""Gangs on a real control plane: etcd, API server, controllers and scheduler, the extender, nodes that KWOK plays."""

import collections
import json
import os
import random
import time
import unittest
from pathlib import Path

from benchmarks.commands import Build
from tests.cluster import fake_gpus
from tests.cluster.control import Control
from tests.cluster.gangs import JOBS, indexed_job
from tests.cluster.rig import Cluster, kwok
from tests.cluster.rig.api import Watch

_NODES, _GPUS, _SLOTS = 6, 4, 2
_MANY, _DEADLINE_S = 50, 30
_SPACE = "team"


def _job(pod):
    return pod["metadata"]["labels"]["batch.kubernetes.io/job-name"]


class Followed:
    """What happened to the pods of a namespace, by events."""

    def __init__(self):
        self.pods = {}
        self.bound = collections.defaultdict(dict)  # by job: pod name to (node, GPUs)
        self.bound_at = collections.defaultdict(list)  # by job: when its pods were
        self.jobs = {}

    def on_pod(self, _when, kind, pod):
        if kind == "ERROR":
            raise AssertionError(pod)
        name = pod["metadata"]["name"]
        self.pods[name] = None if kind == "DELETED" else pod
        node = pod.get("spec", {}).get("nodeName")
        assignment = pod["metadata"].get("annotations", {}).get(fake_gpus.ASSIGNMENT)
        if node:
            job = _job(pod)
            if name not in self.bound[job]:
                self.bound_at[job].append(time.monotonic())
            gpus = json.loads(assignment)["containers"]["main"] if assignment else []
            self.bound[job][name] = (node, tuple(gpus))

    def on_job(self, _when, kind, job):
        if kind != "ERROR":
            self.jobs[job["metadata"]["name"]] = job

    def waiting(self):
        """Pods that are behind their gate."""
        return {name for name, pod in list(self.pods.items()) if pod and pod["spec"].get("schedulingGates")}

    def complete(self, name):
        return any(condition["type"] == "Complete" and condition["status"] == "True"
                   for condition in self.jobs.get(name, {}).get("status", {}).get("conditions", []))


class Gangs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(nodes=1, api_server=kwok.API_SERVER)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.control = Control(cls.cluster, build, webhook=False, settings={"gangs": {"deadline_s": _DEADLINE_S}})
        cls.control.prepare()
        cls.api = cls.cluster.api()
        cls.nodes = [f"fake-{number}" for number in range(_NODES)]
        kwok.start(cls.cluster)
        kwok.create_nodes(cls.api, cls.nodes, {"crossover.dev/slot": str(_GPUS * _SLOTS)})
        cls.gpus = cls.enter(fake_gpus.FakeGpus(cls.cluster.api(), cls.nodes, _GPUS, _SLOTS))
        cls.control.start()
        cls.cluster.namespace(_SPACE)
        cls.followed = Followed()
        cls.enter(Watch(cls.cluster.api(), f"/api/v1/namespaces/{_SPACE}/pods", cls.followed.on_pod))
        cls.enter(Watch(cls.cluster.api(), JOBS.format(_SPACE), cls.followed.on_job))

    @classmethod
    def enter(cls, context):
        cls.addClassCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def until(self, condition, what, patience_s=120.0):
        end = time.monotonic() + patience_s
        while not condition():
            self.control.check()
            if time.monotonic() > end:
                waiting = {name: pod["status"].get("conditions") for name, pod in self.followed.pods.items()
                           if pod and pod["status"]["phase"] == "Pending"}
                self.fail(f"{what}: not within {patience_s:.0f} s; waiting: {json.dumps(waiting)[:3000]}; "
                          f"the extender: {self.control.said('extender-0')[-3000:]}")
            time.sleep(0.05)

    def create(self, *arguments, **more):
        self.api.create(JOBS.format(_SPACE), indexed_job(*arguments, **more))

    def remove(self, *jobs):
        """With their pods, so that others have the GPUs."""
        for job in jobs:
            self.api.delete(f"{JOBS.format(_SPACE)}/{job}")
        self.until(lambda: not any(_job(pod) in jobs for pod in list(self.followed.pods.values()) if pod),
                   "their pods are gone")

    def tearDown(self):
        self.assertEqual(self.gpus.overfull, [])
        self.assertEqual(self.gpus.two_ranks, [])

    def test_two_gangs_meet_pairwise(self):
        cap = {"crossover.dev/gpu-memory": "30Gi"}
        self.create("alpha", 8, annotations=cap)
        self.until(lambda: len(self.followed.bound["alpha"]) == 8, "alpha is bound")
        # Whoever else comes has the other GPUs; once there are none, gangs meet.
        self.create("filler", 16, annotations=cap)
        self.until(lambda: len(self.followed.bound["filler"]) == 16, "filler is bound")
        self.create("beta", 8, annotations=cap)
        self.until(lambda: len(self.followed.bound["beta"]) == 8, "beta is bound")
        sets = [sorted(gpu for _, gpus in self.followed.bound[job].values() for gpu in gpus)
                for job in ("alpha", "beta")]
        self.assertEqual(sets[0], sets[1])
        self.assertEqual(len(set(sets[0])), 8)
        self.remove("alpha", "beta", "filler")

    def test_gangs_on_too_few_gpus(self):
        draw = random.Random(7)
        sizes = {f"gang-{number}": draw.choice([1, 2, 4, 8, 8, 16]) for number in range(_MANY)}
        for name, size in sizes.items():
            self.create(name, size, runs_for=f"{draw.randint(500, 2500)}ms",
                        annotations={"crossover.dev/gpu-memory": "30Gi"})
            time.sleep(draw.random() * 0.1)  # arrivals at random
        self.await_reasons()
        self.until(lambda: all(map(self.followed.complete, sizes)), "all gangs have run", 240.0)
        for name, size in sizes.items():
            bound = self.followed.bound[name]
            gpus = [gpu for _, given in bound.values() for gpu in given]
            self.assertEqual(len(bound), size, name)
            self.assertEqual(len(set(gpus)), size, name)
            times = self.followed.bound_at[name]
            self.assertLess(max(times) - min(times), _DEADLINE_S, f"{name} was half there")

    def await_reasons(self):
        """Pods that wait now are told why, in an event of theirs, unless their turn comes before."""
        unexplained = self.followed.waiting()
        self.assertGreater(len(unexplained), 20, "hardly any has to wait")

        def on_event(_when, kind, event):
            if kind != "ERROR" and event.get("reason") == "GangWaits" and event.get("note", event.get("message")):
                unexplained.discard(event["involvedObject"]["name"])
        with Watch(self.cluster.api(), f"/api/v1/namespaces/{_SPACE}/events", on_event):
            self.until(lambda: not unexplained & self.followed.waiting(), "pods that wait know why", 60.0)


if __name__ == "__main__":
    unittest.main()

"""Tests on a real Kubernetes that pods get seats by what they send to each other: a job that is divided in three ways
runs three times, and the third time its pods are where the fewest bytes cross the links between nodes."""

import json
import os
import unittest
from pathlib import Path
from types import SimpleNamespace

from testing import grids
from testing.cluster.control import Control
from testing.cluster.node_daemon import NodeDaemons
from testing.cluster.rig import Cluster
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import TrainingJob
from testing.commands import Build
from testing.machine import Machine

_NAMESPACE = "team"
_KEY = "grid"
_IMAGE = "crossover.test/grid:1"
_MACHINE = Machine(nodes=2, gpus_per_node=4)
_SHAPE = grids.Shape(q=2, d=2)
_ITERATIONS = 3000  # so that each node has told what its pods call before they end
_LINK_GBPS = 10  # as the nodes tell it, which sets a time and nothing else
_LEARNT_WITHIN_S = 120.0  # a node reports at most every 30 s what no pod waits for
# Each library of a process writes a report of its own, with a line of bytes.
_PRINT_BYTES = ("for file in /out/*.json; do while read -r line; do case $line in *received_bytes*) "
                "echo \"{${line%,}}\";; esac; done < $file; done")


def _in_order(groups):
    return sorted((group["function"], group["members"], group["bytes"]) for group in groups)


class GridJob(TrainingJob):
    """Runs a matrix product in pods. The ranks are numbered through the layers first."""

    patience_s = 240.0  # eight processes multiply for half a minute on two cores that do nothing else

    def __init__(self, cluster, name):
        super().__init__(cluster, _NAMESPACE, SimpleNamespace(name=name), _SHAPE.ranks, image=_IMAGE, by_hand=False,
                         annotations={"crossover.dev/profile-key": _KEY})

    def script(self):
        flags = [*_SHAPE.flags(), f"--iterations={_ITERATIONS}", "--numbering=layers", "--log=/out/log.json"]
        return f"SIMGPU_REPORT=/out /usr/bin/grid_product {' '.join(flags)} && cat /out/log.json && {_PRINT_BYTES}"

    def parse(self, lines):
        said, *reports = [json.loads(line) for line in lines]
        counted = [report["received_bytes"] for report in reports]
        return grids.Outcome(said, *(sum(each[key] for each in counted) for key in ("same_node", "other_nodes")))


class Mapping(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = Build(Path(os.environ["BUILD"]))
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.gpus = SoftwareGpus(cls.cluster, _MACHINE, build.gpu_libraries)
        cls.daemons = NodeDaemons(cls.cluster, cls.gpus, build)
        cls.control = Control(cls.cluster, build)
        cls.control.prepare()
        cls.daemons.start()
        for node in cls.cluster.nodes:
            cls.daemons.configure(node, node_settings={"link_gbps": _LINK_GBPS})
        cls.control.start()
        cls.cluster.namespace(_NAMESPACE)
        cls.cluster.image_of(_IMAGE, {"/usr/bin/grid_product": build.program("grid_product"), "/bin/sh": "/bin/sh",
                                      "/bin/cat": "/bin/cat"}, provided=("libcuda.so.1", "libnccl.so.2"))

    def run_job(self, name):
        """Runs the job and returns the bytes that its pods received from other nodes in an iteration, by node."""
        job = GridJob(self.cluster, name)
        job.create()
        ranks = job.finish().ranks
        self.daemons.check()
        self.control.check()
        by_node = dict.fromkeys((node.name for node in self.cluster.nodes), 0)
        for rank, outcome in enumerate(ranks):
            self.assertEqual(outcome.wrong, 0)
            self.assertEqual(outcome.received, _ITERATIONS * _SHAPE.received)
            pod = self.cluster.get("pod", job.pod(rank)["metadata"]["name"], _NAMESPACE)
            by_node[pod["spec"]["nodeName"]] += outcome.other_nodes
        return [received // _ITERATIONS for received in by_node.values()]

    def await_runs(self, runs):
        """Returns what the profile has of the job's calls, once so many runs agree."""
        def seen(profile):
            return profile.get("status", {}).get("communication", {"runs": 0})
        return seen(self.cluster.wait_for_any(
            "jobprofiles", lambda profile: profile["spec"].get("key") == _KEY and seen(profile)["runs"] >= runs,
            _NAMESPACE, _LEARNT_WITHIN_S))

    def await_uplinks(self, gang, received, least):
        """Waits until the profile tells for how long the busiest uplink carries so many bytes, and at best."""
        wanted = {key: 8 * sent / (_LINK_GBPS * 1e9)
                  for key, sent in (("uplinkSeconds", received), ("leastUplinkSeconds", least))}

        def as_computed(profile):
            runs = [run for run in profile.get("status", {}).get("runs", []) if run["gang"] == f"{_NAMESPACE}/{gang}"]
            return any(all(abs(run.get(key, 0) / want - 1) < 1e-3 for key, want in wanted.items()) for run in runs)
        self.cluster.wait_for_any("jobprofiles", as_computed, _NAMESPACE, _LEARNT_WITHIN_S)

    def test_the_third_run_of_a_grid_has_its_layers_in_nodes(self):
        least = _SHAPE.least_uplink(_MACHINE.gpus_per_node)
        for runs in (1, 2):
            received = self.run_job(f"grid-{runs}")
            self.assertGreater(min(received), least, "the control: pods in the order of ranks")
            found = self.await_runs(runs)
        self.await_uplinks("grid-2", max(received), least)
        self.assertEqual(_in_order(found["groups"]), _in_order(_SHAPE.groups("layers")))
        self.assertEqual(self.run_job("grid-3"), [least] * 2)
        self.await_uplinks("grid-3", least, least)
        told = self.cluster.wait_for_any("events", lambda event: event["reason"] == "PodsMapped", _NAMESPACE)
        self.assertIn("pods are placed by what they send to each other", told["message"])


if __name__ == "__main__":
    unittest.main()

"""Tests that nothing of a cluster stays, however it ends, and that a start that cannot succeed says why."""

import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from testing.cluster.pods import restricted
from testing.cluster.rig import Cluster, Refused, phase, removal
from testing.cluster.rig.versions import TREE
from tests.cluster.rig import leftovers
from tests.process.demo.leftovers import until

_PATIENCE_S = 30.0


class TearDown(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.before = leftovers.machine()

    def assert_gone(self, directory):
        until(lambda: leftovers.of(directory) == leftovers.NOTHING, _PATIENCE_S)
        self.assertEqual(leftovers.of(directory), leftovers.NOTHING)
        self.assertEqual(leftovers.machine(), self.before)

    def test_leaves_nothing_and_touches_nothing(self):
        with Cluster() as cluster:
            cluster.namespace("busy")
            cluster.image_of("crossover.test/sleep:1", {"/bin/sleep": "/bin/sleep"})
            for node in cluster.nodes:
                pod = restricted(node.name, "crossover.test/sleep:1", ["/bin/sleep", "600"], node.name)
                cluster.apply({**pod, "metadata": {"name": node.name, "namespace": "busy"}})
            for node in cluster.nodes:
                cluster.wait_for("pod", node.name, phase("Running"), "busy")
            self.assertEqual(leftovers.machine(), self.before)
            self.assertTrue(all(leftovers.of(cluster.directory).values()))
        self.assertEqual(leftovers.of(cluster.directory), leftovers.NOTHING)
        self.assert_gone(cluster.directory)

    def test_two_at_once_and_one_of_them_killed(self):
        with Cluster(nodes=1) as cluster:
            other, directory = self.start_another()
            self.assertNotEqual(directory, cluster.directory)
            other.kill()
            other.wait()
            self.assert_gone(directory)
            self.assertEqual(len(cluster.get("nodes")), 1)
        self.assert_gone(cluster.directory)

    def test_what_even_the_janitor_left_goes_with_the_next_start(self):
        other, directory = self.start_another()
        janitor, = _janitors(directory)
        os.kill(janitor, signal.SIGKILL)
        other.kill()
        other.wait()
        self.assertTrue(directory.exists())

        def swept():
            removal.sweep(directory.parent)  # once the janitor has died: its kill takes a moment
            return not directory.exists()

        until(swept, _PATIENCE_S)
        self.assert_gone(directory)

    def test_interrupted(self):
        other, directory = self.start_another()
        other.send_signal(signal.SIGINT)
        self.assertEqual(other.wait(_PATIENCE_S), 0)
        self.assertEqual(leftovers.of(directory), leftovers.NOTHING)

    def start_another(self):
        """Starts a cluster of one node that another process owns. Returns that process and the cluster's directory."""
        other = subprocess.Popen([sys.executable, "-B", "-m", "testing.cluster.rig", "--nodes", "1"], cwd=TREE,
                                 stdout=subprocess.PIPE, text=True)
        self.addCleanup(other.wait)
        self.addCleanup(other.terminate)
        self.addCleanup(other.stdout.close)
        first = other.stdout.readline()
        self.assertRegex(first, "^up after")
        directory = Path(first.split()[-1])
        self.assertTrue(all(leftovers.of(directory).values()))
        return other, directory


class Refusal(unittest.TestCase):
    """A test fails on a machine that cannot have a cluster, and says what would help."""

    def test_without_programs(self):
        with mock.patch.dict(os.environ, {"CROSSOVER_CACHE": "/nonexistent"}):
            with self.assertRaisesRegex(Refused, r"/kubelet, .*to install: tools/install\.sh --cluster"):
                Cluster().__enter__()

    def test_without_root(self):
        with mock.patch("os.geteuid", return_value=1000), self.assertRaisesRegex(Refused, "needs root"):
            Cluster().__enter__()


def _janitors(directory):
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if "testing.cluster.rig.janitor" in words and str(directory) in words:
            found.append(int(entry.name))
    return found


if __name__ == "__main__":
    unittest.main()

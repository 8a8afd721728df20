"""Tests `make demo` from its cluster to its report, and what it leaves behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from testing.cluster.rig import removal
from testing.processes import find_marked
from tools.demo.demo import MARK

_TOO_BUSY = 90.0  # percent of all cores


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def command(self):
        """Returns the command of a demo that fails where it cannot have a cluster."""
        return [sys.executable, "-B", "-m", "tools.demo", "--cluster", "--build", os.environ["BUILD"], "--out",
                str(self.out)]

    def look_around(self, demo):
        """Runs all commands that a demo with --stay prints, then interrupts it. Returns what it has printed and the
        finished process of the commands."""
        shown = []
        while demo.poll() is None and not (shown and shown[-1].startswith("  node-")):
            shown.append(demo.stdout.readline())
        offered = "".join(line for line in shown if line.startswith(("  alias", "  kubectl", "  node-")))
        looked = subprocess.run(["bash", "-c", "shopt -s expand_aliases\n" + offered], capture_output=True, text=True,
                                check=False)
        demo.send_signal(signal.SIGINT)
        shown += demo.stdout.readlines()
        return "".join(shown), looked

    def test_to_the_end_and_a_look_around(self):
        with subprocess.Popen([*self.command(), "--stay"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as demo:
            shown, looked = self.look_around(demo)
        self.assertEqual(demo.returncode, 0, shown)
        self.assertNotIn("plain processes", shown)
        self.assertEqual(looked.returncode, 0, looked.stderr)
        for what in ("gpunode", "jobprofile", "pod/", "api.sock"):
            self.assertIn(what, looked.stdout)
        gain = {row: float(re.search(rf"^{row} .* ([0-9.]+)x ", shown, re.MULTILINE)[1])
                for row in ("free-running, MPS", "Crossover")}
        said = float(re.search(r"Prometheus says: gain ([0-9.]+)x", shown)[1])
        busy = float(re.search(r"with Crossover (\d+)% of all cores", shown)[1])
        self.assertGreater(gain["Crossover"], 0)
        if busy < _TOO_BUSY:  # on a busier machine kernels take longer than their model, so the gain means nothing
            self.assertGreater(gain["Crossover"], gain["free-running, MPS"])  # which is the control
            self.assertGreater(said, 1.0)
        self.assertIn("turns in the whole trace", (self.out / "report.html").read_text(encoding="utf-8"))
        self.assertIn("alpha holds", (self.out / "trace.json").read_text(encoding="utf-8"))
        self.assertEqual((find_marked(MARK), removal.directories(MARK)), ([], []))

    def test_down_ends_one_that_runs(self):
        with subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
            while "images" not in (line := demo.stdout.readline()):
                self.assertTrue(line, "it ended before")
            self.assertEqual(len(removal.directories(MARK)), 1, "the control")
            down = subprocess.run([sys.executable, "-B", "-m", "tools.demo", "--down"], capture_output=True, text=True,
                                  check=False)
            said, _ = demo.communicate(timeout=120)
        self.assertEqual(down.returncode, 0, down.stdout + down.stderr)
        self.assertIn("ended demos: 1,", down.stdout)
        self.assertEqual(demo.returncode, 130, said)
        self.assertEqual((find_marked(MARK), removal.directories(MARK)), ([], []))

    def test_without_its_programs_it_does_not_do_something_else(self):
        done = subprocess.run(self.command(), env={**os.environ, "CROSSOVER_CACHE": str(self.out)}, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^demo: no cluster can be started here: missing: .*tools/install.sh --cluster")


if __name__ == "__main__":
    unittest.main()

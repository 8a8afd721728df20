import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from testing.processes import find_marked, kill_marked
from tests.process.demo import stand_ins
from tests.process.demo.leftovers import directories, interfaces, processes_gone, until
from tools.demo.demo import MARK


class Demo(unittest.TestCase):
    """Runs the whole demo on stand-in programs."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.build = stand_ins.make_build(self.directory.name)
        if find_marked(MARK) or directories(MARK):
            self.skipTest("another demo runs on this machine")
        self.addCleanup(kill_marked, MARK)

    def start(self, environment=None, where=("--processes",)):
        command = [sys.executable, "-B", "-m", "tools.demo", *where, "--build", str(self.build.top)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   env={**os.environ, **(environment or {})})
        self.addCleanup(process.stdout.close)
        return process

    def test_table_report_and_trace(self):
        demo = self.start()
        said, _ = demo.communicate(timeout=200)
        self.assertEqual(demo.returncode, 0, said)
        for words in ("alpha alone", "both, Crossover", "gain", "identical", "bound:"):
            self.assertIn(words, said)
        self.assertIn("<svg", (self.build.top / "demo" / "report.html").read_text(encoding="utf-8"))
        trace = json.loads((self.build.top / "demo" / "trace.json").read_text(encoding="utf-8"))
        self.assertIn("alpha holds", json.dumps(trace))
        self.assertEqual(directories(MARK), [])

    def test_where_no_cluster_can_be_had_it_says_why_and_does_without(self):
        demo = self.start({"CROSSOVER_CACHE": self.directory.name}, where=())
        said, _ = demo.communicate(timeout=200)
        self.assertEqual(demo.returncode, 0, said)
        self.assertRegex(said, "No cluster can be had here: .*(root|missing: )")
        self.assertIn("plain processes", said)
        self.assertIn("both, Crossover", said)

    def test_signals_leave_nothing(self):
        before = interfaces()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                demo = self.start({"STAND_IN_SECONDS": "600"})
                self.assertTrue(until(lambda: len(find_marked(MARK)) >= 12))
                demo.send_signal(number)
                said, _ = demo.communicate(timeout=60)
                self.assertEqual(demo.returncode, 130, said)
                self.assertTrue(processes_gone(MARK))
                self.assertEqual((directories(MARK), interfaces()), ([], before))

    def test_down_after_kill_leaves_nothing(self):
        demo = self.start({"STAND_IN_SECONDS": "600"})
        self.assertTrue(until(lambda: len(find_marked(MARK)) >= 12))
        demo.kill()
        demo.wait(60)
        self.assertEqual(len(directories(MARK)), 1)
        down = subprocess.run([sys.executable, "-B", "-m", "tools.demo", "--down"], capture_output=True, text=True)
        self.assertEqual(down.returncode, 0, down.stdout)
        self.assertTrue(processes_gone(MARK))
        self.assertEqual(directories(MARK), [])

    def test_a_build_that_is_not_there_is_said_in_one_line(self):
        (self.build.top / "bin" / "trainer").unlink()
        demo = self.start()
        said, _ = demo.communicate(timeout=60)
        self.assertEqual(demo.returncode, 2)
        self.assertEqual(len(said.strip().splitlines()), 1)
        self.assertIn(str(Path("bin") / "trainer"), said)


if __name__ == "__main__":
    unittest.main()

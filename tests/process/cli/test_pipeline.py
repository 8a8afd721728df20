"""Tests `crossover plan pipeline` as a user runs it: its answers, its picture, and what it says of bad input."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.process.sidecar.test_sidecar import BIN

_PROFILE = "block,forward_ms,backward_ms,parameter_bytes\n" + "".join(f"b{i},1,2,1e9\n" for i in range(8))
_CLUSTER = {"servers": [{"name": "slow", "gpus": 2, "speed": 0.5}, {"name": "fast", "gpus": 2}]}


class Pipeline(unittest.TestCase):

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="pipeline-")))
        self.file("blocks.csv", _PROFILE)

    def file(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return self.folder / name

    def run_plan(self, *options, profile="blocks.csv", stages=4, microbatches=8):
        command = [BIN / "crossover", "plan", "pipeline", "--profile", self.folder / profile, "--stages", stages,
                   "--microbatches", microbatches, *options]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=False)

    def plan(self, *options, **more):
        done = self.run_plan(*options, "-o", "json", **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def refused(self, code, words, *options, **more):
        done = self.run_plan(*options, **more)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, "one line")

    def test_equal_blocks_are_divided_evenly_and_sliced(self):
        plan = self.plan("--slice-cost", 0)
        self.assertEqual([stage["end"] - stage["begin"] for stage in plan["stages"]], [2, 2, 2, 2])
        self.assertEqual(plan["compared"]["not_sliced"]["iteration_ms"], 11 * 6)
        self.assertEqual((plan["iteration_ms"], plan["sliced_microbatches"]), (11 * 6 - 3, 1))
        whole = self.plan("--no-slices")
        self.assertEqual((whole["iteration_ms"], whole["sliced_microbatches"]), (11 * 6, 0))

    def test_slow_servers_get_less(self):
        plan = self.plan("--cluster", self.file("cluster.json", json.dumps(_CLUSTER)), "--no-slices")
        blocks = {}
        for stage in plan["stages"]:
            blocks[stage["server"]] = blocks.get(stage["server"], 0) + stage["end"] - stage["begin"]
        self.assertLess(blocks["slow"], blocks["fast"])
        self.assertLess(plan["iteration_ms"], plan["compared"]["even"]["iteration_ms"])

    def test_the_picture_and_the_table(self):
        picture = self.folder / "plan.html"
        done = self.run_plan("--picture", picture, "--no-slices")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("iteration: 66.000 ms, 72.7% of the devices' time computes", done.stdout)
        self.assertEqual(picture.read_text(encoding="utf-8").count("<rect"), 2 * 4 * 8)

    def test_bad_input_ends_with_one_line(self):
        self.refused(2, "blocks.csv:2: forward_ms: expected milliseconds from 0 to 1e9, got one",
                     profile=self.file("blocks.csv", "forward_ms,backward_ms\none,2\n"))
        self.file("blocks.csv", _PROFILE)
        self.refused(2, "missing.csv: cannot be read", profile="missing.csv")
        self.refused(2, "expected at least one block for each of the 9 stages, got 8", stages=9)
        self.refused(2, "expected a number of micro-batches that is a multiple of the devices",
                     "--schedule", "interleaved", microbatches=7)
        self.refused(2, "servers[0]: gpus: expected a whole number from 1 to 1024, got 0.5", "--cluster",
                     self.file("cluster.json", '{"servers": [{"name": "a", "gpus": 0.5}]}'))
        self.refused(2, "--cluster: expected at least 4 GPUs, got 2", "--cluster",
                     self.file("cluster.json", '{"servers": [{"name": "a", "gpus": 2}]}'))
        self.refused(1, "on which a division of the model fits", "--gpu-memory-gib", 1)
        self.refused(1, "cannot be written", "--picture", self.folder / "none" / "plan.html")
        self.refused(2, "--cluster excludes", "--cluster", "x", "--gpu-memory-gib", 1)


if __name__ == "__main__":
    unittest.main()

"""Tests what the figure shrink_gain asks of the extender's code, and what the program that it asks refuses. CTest sets
BUILD in the environment."""

import os
import subprocess
import unittest
from dataclasses import replace
from pathlib import Path

from benchmarks.runner.context import Context
from benchmarks.turns import narrowed_jobs
from testing.commands import Build
from testing.evaluate import Solo
from testing.pairs import Shape

BUILD = Build(Path(os.environ["BUILD"]))
SHAPE = Shape(6.0, compute_ms=30.0, ranks=2, links="private", gradient_bytes=4 * 66_560)


class ShrinkChoice(unittest.TestCase):
    def chosen(self, ratio, **more):
        context = Context(BUILD, say=lambda text: None)
        return narrowed_jobs.choice(context, replace(SHAPE, ratio=ratio, **more), Solo(30.0 * (1 + ratio), 30.0))

    def test_the_choice_follows_the_wait(self):
        by_ratio = {0.6: "off:not_needed", 1.5: "bf16", 3.0: "q8", 6.0: "q8"}
        self.assertEqual({ratio: self.chosen(ratio)[0] for ratio in by_ratio}, by_ratio)
        self.assertIn("its wait for communication is 180 ms of an iteration and its compute 30 ms", self.chosen(6.0)[1])

    def test_each_part_of_the_question_counts(self):
        self.assertEqual(self.chosen(6.0, nodes=1)[0], "off:one_node")
        self.assertEqual(self.chosen(3.0, jobs=4)[0], "off:not_needed", "the others hide the wait")
        # The shared link is busy for longer than all jobs compute.
        self.assertIn("a step takes 180 ms", self.chosen(3.0, links="shared")[1])
        self.assertIn("a step takes 120 ms", self.chosen(3.0)[1])

    def test_what_is_no_number_is_refused(self):
        good = ["0.03", "0.09", "0", "2", "1", "2", "66560"]
        bad = ((0, "x", "COMPUTE: expected a number from 0 to 1e+06, got x"),
               (1, "-1", "EXPOSED: expected a number from 0 to 1e+06, got -1"),
               (3, "1.5", "NODES: expected a whole number from 1 to 1e+09, got 1.5"),
               (5, "0", "JOBS: expected a whole number from 1 to 1e+09, got 0"))
        program = BUILD.program("shrink_choice")
        for place, text, words in bad:
            arguments = [*good[:place], text, *good[place + 1:]]
            done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", f"shrink_choice: {words}\n"))
        done = subprocess.run([program], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr.split()[:2]), (2, ["usage:", "shrink_choice"]))


if __name__ == "__main__":
    unittest.main()

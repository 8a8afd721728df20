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

    def run_plan(self, *options, profile="blocks.csv", stages=4, microbatches=8, stdin=""):
        """Runs the command with the text `stdin` as its standard input."""
        path = profile if profile == "-" else self.folder / profile
        command = [BIN / "crossover", "plan", "pipeline", "--profile", path, "--stages", stages,
                   "--microbatches", microbatches, *options]
        return subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True, timeout=60,
                              check=False)

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
        self.assertIn("iteration: 66.000 ms, 72.7% of the devices' time is spent on compute", done.stdout)
        self.assertEqual(picture.read_text(encoding="utf-8").count("<rect"), 2 * 4 * 8)

    def test_one_of_the_files_may_come_through_a_pipe(self):
        cluster = self.file("cluster.json", json.dumps(_CLUSTER))
        expected = self.plan("--cluster", cluster)
        self.assertEqual(self.plan("--cluster", "-", stdin=json.dumps(_CLUSTER)), expected)
        self.assertEqual(self.plan("--cluster", cluster, profile="-", stdin=_PROFILE), expected)
        self.refused(2, "standard input:1:2: content: expected JSON that can be parsed, got the end of the file",
                     "--cluster", "-", stdin="{")
        self.refused(2, "standard input: servers[0]: gpus: expected a whole number", "--cluster", "-",
                     stdin='{"servers": [{"name": "a", "gpus": 0.5}]}')
        self.refused(2, "--cluster: expected a file, as --profile is standard input, got -", "--cluster", "-",
                     profile="-")

    def test_a_picture_takes_the_place_of_no_input(self):
        cluster = self.file("cluster.json", json.dumps(_CLUSTER))
        link = self.folder / "link.csv"
        link.symlink_to("blocks.csv")
        for picture, option in (("blocks.csv", "--profile"), ("link.csv", "--profile"), ("cluster.json", "--cluster")):
            with self.subTest(picture=picture):
                self.refused(2, f"--picture: expected another file than that of {option}, got ", "--cluster", cluster,
                             "--picture", self.folder / picture)
        with open(self.folder / "blocks.csv", encoding="utf-8") as profile:
            done = subprocess.run([BIN / "crossover", "plan", "pipeline", "--profile", "-", "--stages", "4",
                                   "--microbatches", "8", "--picture", link], stdin=profile, capture_output=True,
                                  text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual((self.folder / "blocks.csv").read_text(encoding="utf-8"), _PROFILE)
        self.assertEqual(json.loads(cluster.read_text(encoding="utf-8")), _CLUSTER)

    def test_an_output_that_cannot_be_written(self):
        for options in ((), ("-o", "json")):
            with self.subTest(options=options), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([BIN / "crossover", "plan", "pipeline", "--profile", self.folder / "blocks.csv",
                                       "--stages", "4", "--microbatches", "8", *options], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "crossover plan pipeline: standard output: cannot be written\n"))
        self.refused(1, "--picture: /dev/full: cannot be written: No space left", "--picture", "/dev/full")

    def test_options_of_another_schedule_are_refused(self):
        for options, schedule, needed in ((("--chunks", 2), "1f1b", "interleaved"), (("--chunks", 2), "gpipe",
                                          "interleaved"), (("--slice-cost", 0.05), "gpipe", "1f1b"),
                                          (("--slice-cost", 0.05), "interleaved", "1f1b"),
                                          (("--no-slices",), "gpipe", "1f1b"),
                                          (("--no-slices",), "interleaved", "1f1b")):
            with self.subTest(options=options, schedule=schedule):
                self.refused(2, f"{options[0]}: expected --schedule={needed} beside it, got {schedule}", *options,
                             "--schedule", schedule)
        for schedule in ("1f1b", "interleaved", "gpipe"):
            self.plan("--schedule", schedule)
        self.plan("--schedule", "interleaved", "--chunks", 1)

    def test_what_is_no_number_is_refused(self):
        for option, low, high in (("--link-gbit", "0", "1e+06"), ("--latency-us", "0", "1e+09"),
                                  ("--state-factor", "1", "100"), ("--gpu-memory-gib", "0", "1e+06"),
                                  ("--slice-cost", "0", "1")):
            for value in ("nan", "-nan", "inf", "-1", "1e10", "x"):
                with self.subTest(option=option, value=value):
                    self.refused(2, f"{option}: expected a number from {low} to {high}, got {value}",
                                 f"{option}={value}")

    def test_bad_input_ends_with_one_line(self):
        self.refused(2, "blocks.csv:2: forward_ms: expected milliseconds from 0 to 1e9, got one",
                     profile=self.file("blocks.csv", "forward_ms,backward_ms\none,2\n"))
        self.file("blocks.csv", _PROFILE)
        self.refused(2, "blocks.json:2:3: content: expected CSV, or JSON that can be parsed, got ",
                     profile=self.file("blocks.json", '{"blocks": [{"forward_ms": 1}\n  {}]}'))
        self.refused(2, "cluster.json:2:1: content: expected JSON that can be parsed, got the end of the file",
                     "--cluster", self.file("cluster.json", '{"servers": [\n'))
        self.refused(2, "missing.csv: cannot be read", profile="missing.csv")
        self.refused(2, "expected at least one block for each of the 9 stages, got 8", stages=9)
        self.refused(2, "expected a number of micro-batches that is a multiple of the devices",
                     "--schedule", "interleaved", microbatches=7)
        self.refused(2, "servers[0]: gpus: expected a whole number from 1 to 1024, got 0.5", "--cluster",
                     self.file("cluster.json", '{"servers": [{"name": "a", "gpus": 0.5}]}'))
        self.refused(2, "--cluster: expected at least 4 GPUs, got 2", "--cluster",
                     self.file("cluster.json", '{"servers": [{"name": "a", "gpus": 2}]}'))
        self.refused(1, "whose memory takes a division of the model into", "--gpu-memory-gib", 1)
        self.refused(1, "cannot be written", "--picture", self.folder / "none" / "plan.html")
        self.refused(2, "--cluster excludes", "--cluster", "x", "--gpu-memory-gib", 1)


if __name__ == "__main__":
    unittest.main()

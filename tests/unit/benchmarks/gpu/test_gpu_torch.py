"""Tests what the suite makes of PyTorch's answers. PyTorch itself is played: it computes on real GPUs alone."""

import contextlib
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from benchmarks.gpu import torch_parts
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.rig import Rig


class PlayedJob:
    def __init__(self, answer):
        self._answer = answer

    def say(self, _word):
        pass

    def hear(self, _timeout_s):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


class PlayedCrew:
    """Runs no jobs. A feature's digest is the same wherever it runs, unless a bit was flipped. Where jobs take turns,
    each run of a feature holds `turns` of them."""

    turns, differs, fails = 400, (), ()

    def __init__(self, rig, _shapes, way, _link, jobs_to_come=0):
        self.directory, self.way, self.jobs = rig.fresh(way.name), way, [PlayedJob(None)]
        self.given = jobs_to_come
        if way.turns:
            self.trace(0).write_text('{"gang":"job0","event":"hold"}\n', encoding="utf-8")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def await_ready(self):
        return self

    def trace(self, node):
        return self.directory / f"trace{node}.jsonl"

    @contextlib.contextmanager
    def start(self, index, shape):
        name = shape.name.split("_", 1)[1].rpartition("_")[0]  # features_NAME_STEPS
        if self.way.turns:
            with open(self.trace(0), "a", encoding="utf-8") as trace:
                trace.write(f'{{"gang":"job{index}","event":"hold"}}\n' * self.turns)
        flipped = "SIMGPU_NCCL_FAULT" in (shape.environment or {})
        changed = flipped or (self.way.turns and name in self.differs)
        yield PlayedJob(Cannot("out of memory") if name in self.fails else {"digest": name + "x" * changed})


class Features(unittest.TestCase):

    def lines(self, **played):
        work = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(torch_parts.torch_rig, "need"))
        self.enterContext(mock.patch.object(torch_parts.crew, "Crew", type("Crew", (PlayedCrew,), played)))
        return {(line.figure, line.case): line for line in torch_parts.features(Rig(work, work, work))}

    def test_each_feature_has_its_digest_and_its_turns(self):
        lines = self.lines()
        for name in ("eager", "amp", "channels_last", "compile", "profiler", "graphs"):
            same, turns = lines["gpu_features_identical", name], lines["gpu_features_turns", name]
            self.assertTrue(same.ok and turns.ok, name)
            self.assertEqual((same.control.value, turns.value, turns.control.value), (0, 400, 0), name)

    def test_a_job_that_takes_no_turns_proves_nothing(self):
        lines = self.lines(turns=3)
        self.assertTrue(lines["gpu_features_identical", "eager"].ok)
        self.assertFalse(lines["gpu_features_turns", "eager"].ok)

    def test_another_digest_is_a_miss(self):
        lines = self.lines(differs=("graphs",))
        self.assertEqual([case for (figure, case), line in lines.items() if not line.ok], ["graphs"])

    def test_a_feature_that_cannot_run_leaves_the_others(self):
        lines = self.lines(fails=("compile",))
        self.assertEqual(lines["gpu_features_identical", "compile"].remarks["reason"], "out of memory")
        self.assertNotIn(("gpu_features_turns", "compile"), lines)
        self.assertTrue(lines["gpu_features_identical", "graphs"].ok)


if __name__ == "__main__":
    unittest.main()

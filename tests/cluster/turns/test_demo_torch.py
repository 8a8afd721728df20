"""Tests what `make demo-torch` shows: two unmodified DDP jobs of PyTorch that take turns in pods of a cluster."""

import collections
import os
import unittest
from pathlib import Path

from testing.commands import Build
from tools.demo import demo
from tools.demo.cluster import ClusterDemo
from tools.demo.pytorch import PyTorch

_STEPS = 120
_LEAST_TURNS = 100  # of each job
_RANKS = 2


def losses(job):
    """Returns what each rank of a job says of its steps, besides their times."""
    return [[iteration.loss for iteration in rank.iterations] for rank in job.ranks]


class DemoTorch(unittest.TestCase):

    def test_two_jobs_take_turns_and_say_what_they_say_alone(self):
        build = Build(Path(os.environ["BUILD"]).resolve())
        # A pod that does not end with 0 fails the run.
        with ClusterDemo(build, lambda line: print(line, flush=True), PyTorch(build, _STEPS)) as course:
            outcome, turns = course.run()
        self.assertEqual(outcome.faults, ())
        held = collections.Counter(event.gang for event in turns.trace if event.event == "hold")
        for name, alone, shared in zip(demo.NAMES, course.alone, turns.jobs):
            self.assertGreaterEqual(held[f"team/{name}"], _LEAST_TURNS, held)
            self.assertEqual([len(rank.iterations) for rank in shared.ranks], [_STEPS] * _RANKS)
            self.assertEqual(losses(shared), losses(alone))
        self.assertNotEqual(*map(losses, course.alone), "jobs of two seeds differ: the comparison sees what they train")
        self.assertEqual({event.gpu for event in turns.trace if event.event == "hold"},
                         set(course.gpus.uuids(0) + course.gpus.uuids(1)))


if __name__ == "__main__":
    unittest.main()

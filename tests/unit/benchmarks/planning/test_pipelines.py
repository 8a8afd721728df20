"""Tests that the divisions which published estimates pick are the best of all by those estimates."""

import itertools
import random
import unittest

from benchmarks.planning import pipelines

_LINK = pipelines.Link(20, 10)


def _drawn(draw):
    stages = draw.randint(2, 4)
    blocks = [pipelines.Block(draw.randint(1, 4000), draw.randint(1, 6000), 20 * draw.randint(0, 600))
              for _ in range(draw.randint(stages, 10))]
    return blocks, stages, draw.randint(2, 9)


def _parts(blocks, borders):
    """Returns the time of each stage and the time of each transfer between them, in both directions."""
    stages = pipelines.stages_of(blocks, borders)
    return [f + b for f, b, _ in stages], [2 * _LINK.takes(output) for *_, output in stages[:-1]]


def _by_dapple(blocks, borders, microbatches):
    times, transfers = _parts(blocks, borders)
    return sum(times) + sum(transfers) + (microbatches - 1) * max(times + transfers)


def _by_piper(blocks, borders):
    times, transfers = _parts(blocks, borders)
    ways = [0, *transfers, 0]
    return max(time + before + behind for time, (before, behind) in zip(times, itertools.pairwise(ways), strict=True))


class Picked(unittest.TestCase):
    def test_no_division_is_better_by_the_estimate(self):
        draw, differ = random.Random("picked"), 0
        for _ in range(100):
            blocks, stages, microbatches = _drawn(draw)
            every = list(pipelines.divisions(len(blocks), stages))
            dapple = pipelines.picked_by_dapple(blocks, stages, microbatches, _LINK)
            piper = pipelines.picked_by_piper(blocks, stages, _LINK)
            self.assertEqual(_by_dapple(blocks, dapple, microbatches),
                             min(_by_dapple(blocks, borders, microbatches) for borders in every))
            self.assertEqual(_by_piper(blocks, piper), min(_by_piper(blocks, borders) for borders in every))
            differ += dapple != piper
        self.assertGreater(differ, 0, "the two estimates do not always agree")

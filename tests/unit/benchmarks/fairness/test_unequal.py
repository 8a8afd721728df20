"""Tests shares of unequal jobs: the fluid rate, and what whole turns give."""

import unittest

from benchmarks.fairness import unequal
from benchmarks.fairness.unequal import Group, Shape
from testing.machine import COLLECTIVE_CTAS, SMS

SPINNING = COLLECTIVE_CTAS / SMS  # the part of a GPU that a collective holds


class FluidRate(unittest.TestCase):
    def test_is_one_until_something_is_full(self):
        self.assertEqual(unequal.fluid_rate([Shape(10, 30), Shape(10, 30)]), 1.0 / 1.5)  # the link
        self.assertEqual(unequal.fluid_rate([Shape(10, 10)]), 1.0)

    def test_counts_what_collectives_hold_of_the_gpu(self):
        use = (10 + SPINNING * 10) / 20 + (40 + SPINNING * 8) / 48
        self.assertAlmostEqual(unequal.fluid_rate([Shape(10, 10), Shape(40, 8)]), 1 / use)


class WholeTurns(unittest.TestCase):
    def test_equal_jobs_get_what_is_due(self):
        cycle = 2 * (20 + SPINNING * 12)
        for rate in unequal.whole_turns([Shape(20, 12), Shape(20, 12)]):
            self.assertAlmostEqual(rate, 32 / cycle, delta=0.001)

    def test_a_short_turn_waits_for_the_long_one(self):
        brief, long = unequal.whole_turns([Shape(10, 10), Shape(40, 8)])
        cycle = 10 + 40 + SPINNING * (10 + 8)
        self.assertAlmostEqual(brief, 20 / cycle, delta=0.001)
        self.assertAlmostEqual(long, 48 / cycle, delta=0.001)


    def test_on_shared_links_jobs_that_communicate_at_once_are_slower(self):
        # Two jobs that always communicate at the same time need twice as long for it. A job that communicates beside
        # the other's compute does not.
        always = [Shape(1, 100), Shape(1, 100)]
        for alone, together in zip(unequal.whole_turns(always), unequal.whole_turns(always, "shared")):
            self.assertAlmostEqual(together / alone, 0.5, places=1)
        never = [Shape(20, 12), Shape(20, 12)]
        for private, shared in zip(unequal.whole_turns(never), unequal.whole_turns(never, "shared")):
            self.assertAlmostEqual(private, shared, places=3)

    def test_a_brief_job_delays_the_long_ones_collective(self):
        # The job model without hand-over costs gives 0.9469 and 0.1377, and with private links 0.9817 and 0.1428.
        long, brief = unequal.whole_turns([Shape(500, 50), Shape(20, 20)], "shared")
        self.assertAlmostEqual(long, 0.947, places=2)
        self.assertAlmostEqual(brief, 0.138, places=2)
        self.assertGreater(unequal.whole_turns([Shape(500, 50), Shape(20, 20)])[0], 0.97)


class Jobs(unittest.TestCase):
    def test_bytes_follow_the_communication(self):
        brief, long = Group((Shape(20, 4), Shape(5, 20, priority="high"))).jobs()
        self.assertAlmostEqual(long.gradient_bytes / brief.gradient_bytes, 5, places=2)
        self.assertEqual(long.priority, "high")

    def test_kernels_are_multiplied_where_a_shape_says_so(self):
        job, _ = Group((Shape(500, 50, accumulation=16), Shape(20, 20))).jobs()
        self.assertIn("--accumulation=16", job.extra)


if __name__ == "__main__":
    unittest.main()

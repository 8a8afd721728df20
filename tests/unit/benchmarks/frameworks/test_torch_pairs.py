"""Tests what benchmarks/frameworks/torch_pairs.py computes from the lines of jobs and the reports of the software
GPU."""

import unittest

from benchmarks.frameworks import torch_pairs
from benchmarks.frameworks.torch_pairs import Alone
from testing.bounds import cycle_bound, one_turn


class BestGain(unittest.TestCase):

    def assert_gain(self, alone, expected, links="shared"):
        self.assertAlmostEqual(torch_pairs.best_gain(alone, links), expected, 6)

    def test_of_equal_jobs_it_is_that_of_the_cycle_bound(self):
        for links in ("shared", "private"):
            for compute, exposed, wire in ((10, 3, 3), (10, 6, 6), (10, 6, 14), (10, 10, 18), (10, 0.1, 5)):
                job = Alone(compute + exposed, compute, wire)
                cycle = cycle_bound([one_turn(compute, exposed, wire)] * 2, links=links)
                with self.subTest(links=links, job=job):
                    self.assert_gain((job, job), 2 * job.step_ms / cycle, links)

    def test_a_job_that_only_computes_leaves_the_other_nothing(self):
        job = Alone(10, 10, 0)
        self.assert_gain((job, job), 1)

    def test_jobs_that_need_less_than_half_of_everything_do_not_slow_each_other_down(self):
        job = Alone(10, 4, 4)
        self.assert_gain((job, job), 2)

    def test_unequal_jobs_share_as_the_sum_of_their_rates_is_largest(self):
        # The second job alone takes half of the GPU, so the first one gets the rest of it.
        first, second = Alone(10, 10, 0), Alone(20, 10, 0)
        self.assert_gain((first, second), 1.5)
        self.assert_gain((second, first), 1.5)

    def test_private_links_limit_each_job_alone(self):
        job = Alone(10, 4, 10)
        self.assert_gain((job, job), 1, "shared")
        self.assert_gain((job, job), 2, "private")


class Steps(unittest.TestCase):

    def test_lines_of_other_programs_are_left_out(self):
        said = "step 10 at 5.500000 s\nW1127 step 11 at 6 s\nstep 20 at 6.500000 s\n[rank0] step 30 at 7.0 s\n"
        self.assertEqual(torch_pairs.ticks_of(said), [(10, 5.5), (20, 6.5)])

    def test_steps_between_two_lines_count_in_proportion(self):
        ticks = [(10, 5.5), (20, 6.5), (30, 8.5)]
        self.assertAlmostEqual(torch_pairs.step_at(ticks, 6.0), 15)
        self.assertAlmostEqual(torch_pairs.step_at(ticks, 8.5), 30)
        with self.assertRaisesRegex(AssertionError, r"9\.000 s: expected a time from 5\.500 to 8\.500 s"):
            torch_pairs.step_at(ticks, 9)

    def test_a_step_without_a_line_is_named(self):
        self.assertEqual(torch_pairs.time_of([(10, 5.5), (20, 6.5)], 20), 6.5)
        with self.assertRaisesRegex(AssertionError, r"step 15: expected a line about it, got \[10, 20\]"):
            torch_pairs.time_of([(10, 5.5), (20, 6.5)], 15)


class AloneOf(unittest.TestCase):

    def test_it_is_the_difference_of_a_long_and_a_short_run(self):
        def course(steps, work_ms, wire_ms):
            reports = [{"work_ns": {"a": 1, "b": 2}, "gpu_link_ns": {"a": 1, "b": 2}},
                       {"work_ns": {"a": work_ms * 1e6, "b": 0.9 * work_ms * 1e6},
                        "gpu_link_ns": {"a": wire_ms * 1e6, "b": wire_ms * 1e6}}]
            return torch_pairs.Course([(step, 3 + 0.02 * step) for step in range(10, steps + 1, 10)], reports)

        program = torch_pairs.Program("a job", alone=60)
        found = torch_pairs.difference(program, course(20, 300, 100), course(60, 700, 300))
        self.assertAlmostEqual(found.step_ms, 20)
        self.assertAlmostEqual(found.compute_ms, 10)
        self.assertAlmostEqual(found.wire_ms, 5)


if __name__ == "__main__":
    unittest.main()

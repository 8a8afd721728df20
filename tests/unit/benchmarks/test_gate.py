"""Tests how the gate of continuous integration judges its runs."""

import unittest
from dataclasses import replace

from benchmarks import gate
from benchmarks.gate import Run, judge, judge_case
from testing.logs import JobLog, parse_rank_log
from testing.processes import Failed
from tests.unit.testing.samples import MS, rank_lines

ETA, GUARD = gate.CASES


def runs(*values):
    return [Run(value) for value in values]


def job(name, *parts, start_ns=0):
    """Returns a job of two ranks. Each part of its life is (how many iterations, ms for each)."""
    ranks = []
    for rank in range(2):
        iterations, at = [], start_ns
        for count, step_ms in parts:
            log = parse_rank_log(rank_lines(rank, steps=count, step_ms=step_ms, start_ns=at))
            iterations += log.iterations
            at += count * step_ms * MS
        ranks.append(replace(log, iterations=tuple(iterations)))
    return JobLog(name, tuple(ranks))


CASE = replace(ETA, median=0.97, floor=0.94)


class Judging(unittest.TestCase):
    def test_the_median_of_three_counts(self):
        self.assertTrue(judge(runs(0.99, 0.96, 0.97), CASE).passed)
        verdict = judge(runs(0.99, 0.9699, 0.96), CASE)
        self.assertFalse(verdict.passed)
        self.assertIn("the median is 0.9699, expected 0.97 or more", verdict.why)

    def test_the_worst_of_three_counts(self):
        self.assertTrue(judge(runs(0.99, 0.94, 0.98), CASE).passed)
        verdict = judge(runs(0.99, 0.9399, 0.99), CASE)
        self.assertFalse(verdict.passed)
        self.assertIn("the worst run is 0.9399, expected 0.94 or more", verdict.why)

    def test_a_run_without_a_value_fails_whatever_the_others_are(self):
        verdict = judge([*runs(1.0, 1.0), Run(why="4 runs were void: busy")], CASE)
        self.assertFalse(verdict.passed)
        self.assertEqual(verdict.why, "4 runs were void: busy")

    def test_a_case_passes_where_its_control_fails(self):
        self.assertEqual(judge_case(runs(0.99, 0.98, 0.99), runs(0.93), CASE), "")
        self.assertEqual(judge_case(runs(0.99, 0.98, 0.99), runs(0.95, 0.98, 0.96), CASE), "")

    def test_a_control_that_passes_fails_the_gate(self):
        self.assertIn("the control passes with 0.9800, 0.9700, 0.9900: the gate is blind",
                      judge_case(runs(0.99, 0.98, 0.99), runs(0.98, 0.97, 0.99), CASE))

    def test_a_control_that_was_not_measured_shows_nothing(self):
        self.assertIn("the control was not measured: it hangs",
                      judge_case(runs(0.99, 0.98, 0.99), [Run(why="it hangs")], CASE))

    def test_what_ships_is_told_first(self):
        self.assertIn("the worst run is 0.9200", judge_case(runs(0.92), runs(0.99), CASE))


class Values(unittest.TestCase):
    # The first job runs alone in 32 ms, and for 8 more iterations while the second starts. Then both take `cycle_ms`.
    def eta_of(self, cycle_ms, alone=60):
        came = alone * 32 * MS
        first = job("alpha", (alone, 32), (8, 32), (150, cycle_ms))
        second = job("beta", (150, cycle_ms), start_ns=came + 8 * 32 * MS)
        return gate.value_of(ETA, first, second, came)

    def test_eta_is_the_bound_over_the_cycle(self):
        # The bound is longer than 40 ms by what collectives take of the multiprocessors.
        self.assertAlmostEqual(self.eta_of(50) / self.eta_of(41), 41 / 50, places=6)
        self.assertGreater(self.eta_of(41), 0.97)

    def test_a_loss_of_five_percent_is_one_of_its_value(self):
        self.assertAlmostEqual(self.eta_of(60) / self.eta_of(57), 0.95, places=6)

    def test_guard_is_of_one_after_the_other(self):
        came = 60 * 5 * MS
        first = job("alpha", (60, 5), (8, 5), (150, 10))
        second = job("beta", (150, 10), start_ns=came + 8 * 5 * MS)
        self.assertAlmostEqual(gate.value_of(GUARD, first, second, came), 1.0, places=6)

    def test_too_few_iterations_alone_are_an_error(self):
        with self.assertRaisesRegex(Failed, "29 iterations alone, expected 40 or more"):
            self.eta_of(40, alone=30)

    def test_jobs_that_never_met_are_an_error(self):
        first = job("alpha", (70, 32))
        second = job("beta", (60, 32), start_ns=80 * 32 * MS)
        with self.assertRaisesRegex(Failed, "never trained together"):
            gate.value_of(ETA, first, second, 60 * 32 * MS)


class Planted(unittest.TestCase):
    def test_late_hand_overs_are_five_percent_of_the_cycle(self):
        for case in gate.CASES:
            late_ms, compute_ms = case.late_us() / 1e3, case.shape.compute_ms
            self.assertAlmostEqual(2 * late_ms / (2 * compute_ms + 2 * late_ms), gate.PLANTED, places=4)

    def test_floors_tell_it_from_what_ships(self):
        for case in gate.CASES:
            self.assertLess(1 - gate.PLANTED, case.median)
            self.assertLess(case.median, 1)
            self.assertLessEqual(case.floor, case.median)


class Measuring(unittest.TestCase):
    def test_a_control_that_cannot_pass_is_not_run_again(self):
        class Build:
            library = "shipped"

            @staticmethod
            def known_bad(name):
                return name

        taken = []
        answers = iter([*runs(0.99, 0.99, 0.98), *runs(0.94, 0.95)])

        def measure(_, case, library, settings, late, say):
            taken.append((library, settings, late))
            return next(answers)

        before, gate.measure = gate.measure, measure
        self.addCleanup(setattr, gate, "measure", before)
        shipped, control = gate.measure_case(Build, ETA, say=lambda text: None)
        self.assertEqual([run.value for run in shipped], [0.99, 0.99, 0.98])
        self.assertEqual([run.value for run in control], [0.94, 0.95])
        self.assertEqual(taken[0], ("shipped", ("guard: on",), False))
        self.assertEqual(taken[-1], ("late_by", ("guard: on",), True))

    def test_what_cannot_pass(self):
        for values in ((0.99, 0.92), (0.94, 0.95), (0.94, 0.99, 0.95)):
            self.assertTrue(gate.cannot_pass(runs(*values), ETA), values)
        for values in ((0.94,), (0.94, 0.99)):
            self.assertFalse(gate.cannot_pass(runs(*values), ETA), values)
        self.assertTrue(gate.cannot_pass([Run(why="it hangs")], ETA))


if __name__ == "__main__":
    unittest.main()

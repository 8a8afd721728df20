import unittest

from benchmarks.fairness import schedules


class StepBeside(unittest.TestCase):
    def test_a_job_fits_into_the_absence_of_the_other(self):
        self.assertAlmostEqual(schedules.step_beside((20, 20), (20, 20), 0), 40)

    def test_a_long_turn_takes_several_absences(self):
        # 30 ms of compute in absences of 10 ms, one per 20 ms; then 10 ms away, while the other computes.
        self.assertAlmostEqual(schedules.step_beside((30, 10), (10, 10), 0), 60)

    def test_each_absence_costs_a_hand_over(self):
        self.assertAlmostEqual(schedules.step_beside((27, 10), (10, 10), 1), 60)

    def test_nothing_is_left_beside_a_job_that_is_never_away(self):
        self.assertEqual(schedules.step_beside((20, 20), (20, 0), 0), float("inf"))


class Margin(unittest.TestCase):
    def test_jobs_that_fill_each_others_absences_need_no_slack(self):
        self.assertAlmostEqual(schedules.margin([(20, 20), (20, 20)], (1.1, 1.2)), 1.1)

    def test_jobs_that_only_compute_share_the_time(self):
        self.assertAlmostEqual(schedules.margin([(20, 0), (20, 0)], (2, 2)), 1.0)
        self.assertLess(schedules.margin([(20, 0), (20, 0)], (1.9, 1.9)), 1)

    def test_a_mix_keeps_caps_that_no_schedule_keeps_alone(self):
        jobs, caps = [(30, 10), (60, 20)], (1.5, 1.6)
        self.assertTrue(all(min(a * caps[0], b * caps[1]) < 1 for a, b in schedules.points(jobs, 0)))
        self.assertGreaterEqual(schedules.margin(jobs, caps), 1)

    def test_hand_overs_make_it_less(self):
        jobs = [(2, 1), (150, 100)]
        self.assertLess(schedules.margin(jobs, (1.5, 1.5), 0.15), schedules.margin(jobs, (1.5, 1.5)))

    def test_no_schedule_beats_the_fluid_bound(self):
        for first in ((2, 1), (10, 10), (40, 3), (150, 140)):
            for second in ((3, 3), (25, 5), (180, 90)):
                caps = (1.4, 1.7)
                use = sum(c / (c + m) / cap for (c, m), cap in zip((first, second), caps))
                self.assertLessEqual(schedules.margin([first, second], caps), 1.001 / use)


if __name__ == "__main__":
    unittest.main()

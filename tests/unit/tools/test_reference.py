import unittest

from benchmarks import bounds, reference


def steady(compute, ranks=4, iterations=60):
    return [[compute] * iterations for _ in range(ranks)]


class Reference(unittest.TestCase):
    def test_equal_jobs_without_jitter_reach_the_bound(self):
        found = reference.cycle([steady(20.0), steady(20.0)], [12.0, 12.0], 20, 60)
        self.assertAlmostEqual(found, bounds.cycle_bound([bounds.one_turn(20, 12)] * 2))

    def test_one_job_takes_its_solo_step(self):
        self.assertAlmostEqual(reference.cycle([steady(20.0)], [12.0], 20, 60), 32)

    def test_a_slow_rank_holds_its_collective_up(self):
        computes = steady(20.0)
        computes[2] = [26.0] * 60
        self.assertAlmostEqual(reference.cycle([computes], [12.0], 20, 60), 38)


if __name__ == "__main__":
    unittest.main()

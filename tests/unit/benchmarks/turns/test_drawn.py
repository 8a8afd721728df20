import random
import unittest

from benchmarks.turns import drawn
from testing import bounds
from tests.unit.benchmarks.turns import first_come


def steady(compute, ranks=4, iterations=60):
    return [[compute] * iterations for _ in range(ranks)]


class FirstCome(unittest.TestCase):
    def test_equal_jobs_without_jitter_reach_the_bound(self):
        found = first_come.cycle([steady(20.0), steady(20.0)], [12.0, 12.0], 20, 60)
        self.assertAlmostEqual(found, bounds.cycle_bound([bounds.one_turn(20, 12)] * 2))

    def test_one_job_takes_its_solo_step(self):
        self.assertAlmostEqual(first_come.cycle([steady(20.0)], [12.0], 20, 60), 32)

    def test_a_slow_rank_holds_its_collective_up(self):
        computes = steady(20.0)
        computes[2] = [26.0] * 60
        self.assertAlmostEqual(first_come.cycle([computes], [12.0], 20, 60), 38)


class Drawn(unittest.TestCase):
    """Tests the bound of drawn compute times."""

    def test_without_jitter_it_is_that_of_the_means(self):
        for exposed in (5.0, 12.0, 30.0):
            self.assertAlmostEqual(drawn.bound([steady(20.0), steady(20.0)], exposed, 4 / 132 * exposed),
                                   bounds.cycle_bound([bounds.one_turn(20, exposed)] * 2, 4, 132, "private"))

    def test_a_job_alany_waits_for_its_slowest_rank(self):
        computes = [[[20.0, 30.0]], [[10.0, 10.0]]]
        self.assertAlmostEqual(drawn.bound(computes, 40.0), 65.0)
        uneven = [[[20.0, 30.0], [30.0, 20.0]], [[1.0, 1.0], [1.0, 1.0]]]
        self.assertAlmostEqual(drawn.bound(uneven, 5.0), 35.0)

    def test_no_schedule_beats_it(self):
        for seed in range(20):
            draw = random.Random(seed)
            exposed = draw.uniform(2, 25)
            jobs = [[[max(1.0, draw.gauss(20, 1)) for _ in range(200)] for _ in range(8)] for _ in range(2)]
            found = first_come.cycle(jobs, [exposed] * 2, 20, 180)
            bound = drawn.bound([[rank[20:180] for rank in job] for job in jobs], exposed)
            self.assertGreaterEqual(found, bound * 0.998, f"seed {seed}")
            self.assertLess(found, bound * 1.1, f"seed {seed}")


if __name__ == "__main__":
    unittest.main()

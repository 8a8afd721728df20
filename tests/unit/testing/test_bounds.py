import random
import unittest

from testing.bounds import Job, Segment, best_cycle, cycle_bound, gain, one_turn


class CycleBound(unittest.TestCase):
    def test_compute_limits_two_equal_jobs(self):
        job = one_turn(20, 12, 12)
        self.assertAlmostEqual(cycle_bound([job, job]), 40)
        self.assertAlmostEqual(gain([job, job], 40), 1.6)

    def test_a_long_job_limits(self):
        self.assertAlmostEqual(cycle_bound([one_turn(10, 90), one_turn(20, 5)]), 100)

    def test_spinning_collectives_take_their_multiprocessors(self):
        job = one_turn(20, 20)
        self.assertAlmostEqual(cycle_bound([job, job], 4, 132, "private"), 40 + 4 / 132 * 40)

    def test_a_shared_link_limits_hidden_bytes_too(self):
        job = one_turn(20, 20, 30)
        self.assertAlmostEqual(cycle_bound([job, job]), 60)
        self.assertAlmostEqual(cycle_bound([job, job], links="private"), 40)


class BestCycle(unittest.TestCase):
    def test_one_turn_each_reaches_the_bound(self):
        job = one_turn(20, 12, 12)
        self.assertAlmostEqual(best_cycle([job, job]), 40)

    def test_gaps_that_nothing_fits_cost(self):
        # After 19 of compute a gap of 1 opens. Only the other job's turn of 1 fits, and then that job is away for 11.
        job = Job((Segment(19, 1), Segment(1, 11)))
        self.assertAlmostEqual(best_cycle([job, job]), 42, places=5)

    def test_interlocking_turns_fill_all_gaps(self):
        job = Job((Segment(10, 6), Segment(10, 6)))
        self.assertAlmostEqual(best_cycle([job, job]), 40)

    def test_two_transfers_at_once_need_private_links(self):
        # In one iteration each job has twenty of link and eight of compute: the link alone needs 40.
        job = Job((Segment(4, 10, 10), Segment(4, 10, 10)))
        self.assertAlmostEqual(best_cycle([job, job]), 40)
        self.assertAlmostEqual(best_cycle([job, job], links="private"), 28)

    def test_refuses_three_jobs(self):
        with self.assertRaisesRegex(ValueError, "2 jobs"):
            best_cycle([one_turn(1, 1)] * 3)

    def test_never_below_the_bound_and_never_above_a_simulated_order(self):
        draw = random.Random(7)
        for _ in range(40):
            jobs = [Job(tuple(Segment(draw.uniform(1, 9), draw.uniform(1, 9)) for _ in range(draw.randint(1, 3))))
                    for _ in range(2)]
            found = best_cycle(jobs, links="private")
            self.assertGreaterEqual(found, cycle_bound(jobs, links="private") - 1e-6)
            self.assertLessEqual(found, self.simulate_alternating(jobs) + 1e-6)

    def simulate_alternating(self, jobs, rounds=400):
        """Returns the long-run cycle if the GPU runs all turns of both jobs in one fixed order, played through in
        time.
        """
        order = []
        for index in range(max(len(j.segments) for j in jobs)):
            order += [(j, index) for j, job in enumerate(jobs) if index < len(job.segments)]
        free, ready, marks = 0.0, [0.0, 0.0], []
        for _ in range(rounds):
            for job, index in order:
                segment = jobs[job].segments[index]
                free = max(free, ready[job]) + segment.compute
                ready[job] = free + segment.exposed
            marks.append(free)
        half = rounds // 2
        return (marks[-1] - marks[half]) / (rounds - 1 - half)


if __name__ == "__main__":
    unittest.main()

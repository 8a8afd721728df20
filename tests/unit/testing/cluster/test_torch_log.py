import json
import unittest

from testing.cluster.torch_training import rank_log

MS = 1_000_000


def lines(rank=0, steps=3, losses=0.5):
    said = [{"rank": rank, "step": k, "loss": losses, "began_ns": 40 * k * MS, "ended_ns": 40 * (k + 1) * MS}
            for k in range(steps)]
    said[-1]["mean_token"] = 499.5
    return [json.dumps(entry) for entry in (*said, {"rank": rank, "steps": steps, "local_step_ns": 30e6})]


class RankLog(unittest.TestCase):
    def test_steps_are_iterations_with_the_compute_of_a_local_step(self):
        log = rank_log(lines(rank=1))
        self.assertEqual((log.rank, [i.index for i in log.iterations]), (1, [0, 1, 2]))
        self.assertEqual({(i.end_ns - i.begin_ns, i.compute_ns) for i in log.iterations}, {(40 * MS, 30 * MS)})

    def test_the_digest_is_over_losses_and_batches_and_not_over_times(self):
        def digest(entries):
            return rank_log(entries).summary["losses_digest"]

        later = [line.replace('"ended_ns": 80', '"ended_ns": 81') for line in lines()]
        self.assertEqual(digest(lines()), digest(later))
        self.assertNotEqual(digest(lines()), digest(lines(losses=0.25)))
        self.assertNotEqual(digest(lines()), digest([line.replace("499.5", "499.6") for line in lines()]))

    def test_a_log_that_is_cut_is_refused(self):
        for said, wrong in (("3 steps and one end, got 2 steps and 1 ends", lines()[1:]),
                            ("all steps and one end, got 3 steps and 0 ends", lines()[:-1])):
            with self.assertRaisesRegex(ValueError, said):
                rank_log(wrong)


if __name__ == "__main__":
    unittest.main()

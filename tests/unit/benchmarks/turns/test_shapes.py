import unittest

from benchmarks.turns import shapes
from testing import evaluate


class Shapes(unittest.TestCase):
    def shape(self, variant, step_ms, plain_step_ms=32.4):
        return shapes.job_shape(variant, evaluate.Solo(step_ms, 20.0), evaluate.Solo(plain_step_ms, 20.0), 120_000, 4,
                                15e6)

    def test_plain_is_one_turn(self):
        job = self.shape("plain", 32)
        self.assertEqual(len(job.segments), 1)
        self.assertAlmostEqual(job.solo, 32)
        self.assertAlmostEqual(job.link, 12)

    def test_early_bytes_stay_on_the_link(self):
        job = self.shape("plain", 26)
        self.assertAlmostEqual(job.exposed, 6)
        self.assertAlmostEqual(job.link, 12)

    def test_small_collectives_split_the_iteration(self):
        job = self.shape("loss_allreduce", 33)
        self.assertEqual([round(s.compute, 6) for s in job.segments], [8, 12])
        self.assertAlmostEqual(job.solo, 33)
        self.assertAlmostEqual(job.segments[0].exposed, 33 - 32.4)

    def test_broadcast_comes_before_forward(self):
        job = self.shape("broadcast_buffers", 33)
        self.assertEqual([round(s.compute, 6) for s in job.segments], [2, 18])


if __name__ == "__main__":
    unittest.main()

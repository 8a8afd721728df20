import random
import unittest

from benchmarks.overhead import framework_time
from benchmarks.runner import compared
from testing.processes import Failed


class Machine:
    """Runs programs of one second, and adds what a machine adds: noise, a trend, and now and then other work."""

    def __init__(self, planted, noise=0.01, trend=0.0, bursts=0.0, seed=1):
        self.planted, self.noise, self.trend, self.bursts = planted, noise, trend, bursts
        self.draw, self.runs, self.order = random.Random(seed), 0, []

    def run(self, way):
        self.order.append(way)
        self.runs += 1
        took = 1 + (self.planted if way == "with" else 0)
        took *= 1 + self.trend * self.runs + self.draw.gauss(0, self.noise)
        return took * (1.5 if self.draw.random() < self.bursts else 1)


class Compared(unittest.TestCase):
    def compare(self, machine, error=0.007):
        return compared.compare(machine.run, "with", "without", error)

    def test_each_pair_runs_in_the_other_order(self):
        machine = Machine(0)
        self.compare(machine, error=1)
        self.assertEqual(machine.order[:4], ["with", "without", "without", "with"])
        self.assertEqual(len(machine.order), 2 * compared.LEAST_PAIRS)

    def test_two_and_four_percent_are_seen(self):
        for planted in (0, 0.02, 0.04):
            for conditions in ({}, {"noise": 0.015}, {"trend": 0.002}, {"bursts": 0.05}):
                with self.subTest(planted=planted, **conditions):
                    found = self.compare(Machine(planted, **conditions))
                    self.assertLessEqual(found.error, 0.007)
                    self.assertAlmostEqual(found.ratio, 1 + planted, delta=0.01)

    def test_always_the_same_order_would_count_a_trend(self):
        """This is the control: all pairs run in the same order."""
        machine = Machine(0, noise=0, trend=0.01)
        fixed = []
        for _ in range(20):
            took = [machine.run("with"), machine.run("without")]
            fixed.append(took[0] / took[1])
        self.assertLess(compared.of(fixed).ratio, 0.995)
        self.assertAlmostEqual(self.compare(Machine(0, noise=0, trend=0.01)).ratio, 1, delta=0.002)

    def test_a_noisy_machine_takes_more_pairs_and_says_its_error(self):
        found = self.compare(Machine(0, noise=0.02))
        self.assertGreater(len(found.samples), compared.LEAST_PAIRS)
        hopeless = self.compare(Machine(0, noise=0.2))
        self.assertEqual(len(hopeless.samples), compared.MOST_PAIRS)
        self.assertGreater(hopeless.error, 0.007)

    def test_the_truth_lies_within_the_error_nearly_always(self):
        within = 0
        for seed in range(200):
            found = self.compare(Machine(0.02, noise=0.02, seed=seed))
            within += abs(found.ratio - 1.02) <= found.error
        self.assertGreater(within, 160)


class FrameworkTime(unittest.TestCase):
    def lines(self, library, two, four, error=0.001):
        found = {way: compared.Comparison(ratio, error, (ratio,) * 20)
                 for way, ratio in (("library", library), (0.02, two), (0.04, four))}
        voids = []
        return list(framework_time.judged(voids, "torch", found, "")), voids

    def test_what_is_planted_must_be_seen(self):
        (time, seen), voids = self.lines(1.001, 1.019, 1.043)
        self.assertTrue(time.ok and seen.ok)
        self.assertAlmostEqual(seen.value, 0.003)
        self.assertEqual(voids, [])
        (time, seen), _ = self.lines(1.001, 1.005, 1.043)
        self.assertFalse(time.ok, "2% passes for nothing")
        self.assertFalse(seen.ok)
        (time, seen), _ = self.lines(1.02, 1.02, 1.04)
        self.assertFalse(time.ok)
        self.assertTrue(seen.ok)

    def test_a_case_that_cannot_see_it_is_void(self):
        (time, seen), voids = self.lines(1.0, 1.02, 1.04, error=0.02)
        self.assertIsNone(time.value)
        self.assertIsNone(seen.value)
        self.assertIn("expected 0.007 or less", voids[0]["why"])

    def test_a_program_says_what_its_steps_took(self):
        self.assertEqual(framework_time.trained_s("0 0x1p-2\ntrained: 1.250000 1.300000\nopen: 0\n"), 1.25)
        for text in ("", "trained: 0 0\n"):
            with self.assertRaisesRegex(Failed, "trained: PROCESSOR_S"):
                framework_time.trained_s(text)


if __name__ == "__main__":
    unittest.main()

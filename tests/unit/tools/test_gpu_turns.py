"""Tests what the suite for real GPUs computes of hand-overs, and what it reads of the library's log."""

import unittest

from benchmarks.gpu import turns


class Handovers(unittest.TestCase):

    def test_only_a_change_of_clients_is_a_handover(self):
        first, second = [(0, 10), (12, 20), (40, 50)], [(25, 38), (53, 60)]
        self.assertEqual(turns.handovers_ns(first, second), ([5, 2, 3], 0))

    def test_a_turn_that_begins_in_another_is_no_handover(self):
        self.assertEqual(turns.handovers_ns([(0, 10)], [(9, 20)]), ([], 1))

    def test_quantiles_are_samples(self):
        self.assertEqual(turns.quantile([3, 1, 2], 0.5), 2)
        self.assertEqual(turns.quantile(range(1, 101), 0.99), 99)
        self.assertEqual(turns.quantile([7], 0.99), 7)


class Gates(unittest.TestCase):

    def test_what_the_library_says(self):
        gpu = "crossover: slot 0 of its GPU, GPU gates\n"
        awaits = "crossover: streams wait for signals in device memory before they wait at the turnstile\n"
        refuses = "crossover: signals: expected an arbiter that offers signals, got none\n"
        for gates, lines, reason in (
                ("gpu", gpu, ""), ("ipc", gpu + awaits, ""), ("ipc", gpu + refuses + awaits, ""),
                ("ipc", gpu + awaits + refuses, "signals: expected an arbiter"), ("ipc", gpu, "nothing of signals"),
                ("gpu", "", "has not joined"), ("relay", "crossover: slot 1 of its GPU, host gates", "has host gates")):
            with self.subTest(gates=gates, lines=lines):
                wrong = turns.other_gates(gates, lines)
                self.assertEqual(bool(wrong), bool(reason), wrong)
                self.assertIn(reason, wrong)


if __name__ == "__main__":
    unittest.main()

"""Tests what the suite for real GPUs computes of hand-overs, and which transport it calls better."""

import unittest

from benchmarks.gpu import auto, turns

_BETTER = {("gpu_handover_us", "mps_gpu"): 9.0, ("gpu_handover_us", "mps_ipc"): 6.0, ("gpu_crowd", "mps_host"): 1.12,
           ("gpu_crowd", "mps_device"): 1.01, ("gpu_opening_us", "mps_3_busy"): 40.0}


def said(software=False, **changed):
    values = _BETTER | {tuple(key.split("__")): value for key, value in changed.items()}
    entries = [{"figure": figure, "case": case, "value": value} for (figure, case), value in values.items()]
    return " ".join(auto.words(entries, "NVIDIA H200", software))


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


class Auto(unittest.TestCase):

    def test_a_gain_without_a_loss(self):
        self.assertIn("`transport: auto` is ipc on NVIDIA H200: a hand-over takes 6 us by signals and 9 us", said())
        self.assertIn("| NVIDIA H200 | ipc | 9 us | 6 us | 1.120 | 1.010 | 40 us |", said())

    def test_host_words_stay(self):
        for changed, why in (({"gpu_handover_us__mps_ipc": 12.0}, "cost more than they gain"),
                             ({"gpu_handover_us__mps_ipc": 9.1, "gpu_crowd__mps_device": 1.12}, "gain nothing"),
                             ({"gpu_opening_us__mps_3_busy": 2500.0}, "copy waits beside busy clients"),
                             ({"gpu_crowd__mps_device": None}, "not measured under MPS: clients that wait in device")):
            with self.subTest(why=why):
                self.assertIn("`transport: auto` is host on NVIDIA H200", said(**changed))
                self.assertIn(why, said(**changed))

    def test_what_was_not_measured_gives_no_row(self):
        self.assertIn("No row of a release", said(gpu_opening_us__mps_3_busy=None))
        self.assertNotIn("| host |", said(gpu_opening_us__mps_3_busy=None))

    def test_the_software_gpu_gives_no_row(self):
        self.assertIn("No row of a release", said(software=True))
        self.assertNotIn("| ipc |", said(software=True))

    def test_nothing_where_nothing_was_asked(self):
        self.assertEqual(auto.words([{"figure": "gpu_word_hop_us", "case": "mps", "value": 1.0}], "a GPU"), [])


if __name__ == "__main__":
    unittest.main()

"""Tests when a rank that leaves counts as one that held its turn, and how ends and series of them are judged."""

import unittest

from benchmarks.faults import leaving_ranks
from benchmarks.faults.leaving_ranks import End, Outcome
from benchmarks.faults.rank_kills import Kill
from testing.logs import TraceEvent


def in_turn(*events, at=5, gpu="gpu"):
    """Returns whether the gang beta held the turn at a moment, by events of (time, gang, words)."""
    trace = [TraceEvent(when, "gpu", 0, gang, *words.split()) for when, gang, words in events]
    return leaving_ranks.in_turn(trace, Kill(at, gpu, "beta"))


class InTurn(unittest.TestCase):

    def test_from_the_hold_to_the_release(self):
        self.assertTrue(in_turn((1, "beta", "hold")))
        self.assertTrue(in_turn((1, "beta", "hold"), (6, "beta", "release")))
        self.assertFalse(in_turn((1, "beta", "hold"), (4, "beta", "release")))
        self.assertFalse(in_turn((1, "beta", "hold"), (4, "beta", "leave")))
        self.assertFalse(in_turn((6, "beta", "hold")))

    def test_the_turn_of_another_is_none(self):
        self.assertFalse(in_turn((1, "beta", "hold"), (2, "alpha", "hold")))
        self.assertTrue(in_turn((1, "beta", "hold"), (2, "alpha", "release")))
        self.assertFalse(in_turn((1, "beta", "hold"), gpu="another"))

    def test_who_takes_no_turns_any_more_holds_none(self):
        self.assertFalse(in_turn((1, "beta", "hold"), (3, "beta", "mode observe")))
        self.assertTrue(in_turn((1, "beta", "hold"), (3, "alpha", "mode observe")))
        self.assertTrue(in_turn((1, "beta", "hold"), (3, "beta", "mode gate")))

    def test_nothing_is_held_where_nothing_happened(self):
        self.assertFalse(in_turn())


class Ends(unittest.TestCase):

    def test_an_end_by_a_signal_is_no_failure(self):
        self.assertIsNone(leaving_ranks.wrong_end("exit code 1", 1, True))
        self.assertIs(leaving_ranks.wrong_end("signal SIGSEGV", 0, True), End.CRASH)
        self.assertIs(leaving_ranks.wrong_end("signal SIGSEGV", 0, False), End.CRASH)
        self.assertIs(leaving_ranks.wrong_end("exit code 139", 0, True), End.CRASH)
        self.assertIs(leaving_ranks.wrong_end("exit code 128", 0, True), End.FAILURE)
        self.assertIs(leaving_ranks.wrong_end("exit code 2", 0, True), End.FAILURE)
        self.assertIs(leaving_ranks.wrong_end(None, 0, True), End.HANG)
        self.assertIs(leaving_ranks.wrong_end("exit code 1", 0, True), End.FAILURE)
        self.assertIs(leaving_ranks.wrong_end("exit code 0", 0, False), End.FAILURE)

    def test_a_control_counts_crashes_and_hangs_alone(self):
        ends = ((End.CRASH, "a"), (End.FAILURE, "b"), (End.HANG, "c"))
        self.assertEqual(Outcome(3, 3, ends, (), "").fatal, 2)
        self.assertEqual(Outcome(3, 3, ends, (), "").words_of(), ["a", "b", "c"])
        self.assertEqual(Outcome(3, 3, ((End.FAILURE, "b"),), (), "").fatal, 0)

    def test_a_control_whose_run_failed_shows_nothing(self):
        self.assertIsNone(Outcome(3, 3, ((End.CRASH, "a"),), (), "the neighbour ended").fatal)


class Series(unittest.TestCase):

    def test_both_numbers_have_to_be_there(self):
        runs = [Outcome(9, 6, (), (1.0,) * 3, ""), Outcome(9, 4, (), (1.0,) * 2, "")]
        self.assertEqual(leaving_ranks.too_few(runs, 10, 5), "")
        self.assertEqual(leaving_ranks.too_few(runs, 11, 5), "expected 11 exits in a held turn, got 10")
        self.assertEqual(leaving_ranks.too_few(runs, 10, 6), "expected 6 hand-overs behind them, got 5")
        self.assertIn("got 10; expected 6", leaving_ranks.too_few(runs, 11, 6))
        self.assertIn("got 0", leaving_ranks.too_few([], 1, 0))


if __name__ == "__main__":
    unittest.main()

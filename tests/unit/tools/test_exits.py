"""Tests when a rank that leaves counts as one that held its turn."""

import unittest

from benchmarks import exits
from benchmarks.kills import Kill
from benchmarks.logs import TraceEvent


def in_turn(*events, at=5, gpu="gpu"):
    """Returns whether the gang beta held the turn at a moment, by events of (time, gang, words)."""
    trace = [TraceEvent(when, "gpu", 0, gang, *words.split()) for when, gang, words in events]
    return exits.in_turn(trace, Kill(at, gpu, "beta"))


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


if __name__ == "__main__":
    unittest.main()

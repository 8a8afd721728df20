"""Tests that gangs leave nothing behind. They come and go while certificates, the Lease and tokens are replaced."""

import os
import unittest
from pathlib import Path

from testing.cluster import gang_churn
from testing.commands import Build

_PACE = 5.0  # gangs per second


class Churn(unittest.TestCase):
    def play(self, gangs, each):
        """Plays so many gangs while each kind is replaced `each` times. Returns the Outcome."""
        found = gang_churn.play(Build(Path(os.environ["BUILD"])), gangs, 1, each, each, each, _PACE, print)
        self.assertEqual(found.leaked, ())
        return found

    def test_no_object_is_left_of_gangs(self):
        self.play(250, 1)  # for fifty seconds


if __name__ == "__main__":
    unittest.main()

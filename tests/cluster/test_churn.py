"""Tests that gangs leave nothing behind. They come and go while certificates, the Lease and tokens are replaced."""

import os
import unittest
from pathlib import Path

from benchmarks import gang_churn
from benchmarks.commands import Build

_GANGS, _PACE = 1500, 5.0  # gangs per second, for five minutes
_CERTIFICATES, _LEASES, _TOKENS = 3, 3, 3


class Churn(unittest.TestCase):
    def test_nothing_is_left_of_gangs(self):
        build = Build(Path(os.environ["BUILD"]))
        found = gang_churn.play(build, _GANGS, 1, _CERTIFICATES, _LEASES, _TOKENS, _PACE, print)
        self.assertEqual(found.leaked, ())
        # The first certificates and leaders cost memory once. A run with ten times as many gangs shows that this growth
        # ends.
        self.assertLess(found.growth, 3.0, "MiB per 1,000 gangs")


if __name__ == "__main__":
    unittest.main()

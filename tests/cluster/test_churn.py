"""Gangs that come and go while certificates, the Lease and tokens are replaced: nothing is left of them."""

import os
import unittest
from pathlib import Path

from benchmarks import gang_churn
from benchmarks.commands import Build

_GANGS = 1500
_CERTIFICATES, _LEASES, _TOKENS = 3, 3, 3


class Churn(unittest.TestCase):
    def test_nothing_is_left_of_gangs(self):
        found = gang_churn.play(Build(Path(os.environ["BUILD"])), _GANGS, 1, _CERTIFICATES, _LEASES, _TOKENS, print)
        self.assertEqual(found.leaked, ())
        # The first certificates and leaders cost something once; that this ends shows with ten times as many gangs.
        self.assertLess(found.growth, 3.0, "MiB per 1,000 gangs")


if __name__ == "__main__":
    unittest.main()

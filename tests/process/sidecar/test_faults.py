"""Plays each kind of fault of testing/faults.py once. `make soak ONLY=faults` plays them at twenty moments."""

import os
import unittest
from pathlib import Path

from testing import faults
from testing.commands import Build

_BUILD = Build(Path(os.environ.get("BUILD", "")))


class Faults(unittest.TestCase):
    """Plays the faults that need no root."""

    def test_what_is_planted_is_seen(self):
        self.assertIn("losses of beta", faults.play(_BUILD, faults.CONTROL, 0))


class AsRoot(unittest.TestCase):
    """Plays the faults that are made with cgroups."""


def _one(name):
    def test(self):
        self.assertEqual(faults.play(_BUILD, faults.ROWS[name], 0), "")
    return test


for _name, _row in faults.ROWS.items():
    setattr(AsRoot if _row.needs_root else Faults, "test_" + _name.replace(" ", "_"), _one(_name))

if __name__ == "__main__":
    unittest.main()

"""Tests the faults of votes in processes: each row of testing/shrink/rows.py, and the control."""

import os
import unittest
from pathlib import Path

from testing.commands import Build
from testing.processes import Failed
from testing.shrink import rows

BUILD = Build(Path(os.environ.get("BUILD", "")))


class Vote(unittest.TestCase):
    def test_every_row(self):
        for row in rows.ROWS:
            with self.subTest(row=row.name):
                ended = rows.play(BUILD, row)
                self.assertEqual(rows.faults(row, ended), [], ended)

    def test_the_names_differ(self):
        names = [row.name for row in rows.ROWS]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(len(names), 30)


class Control(unittest.TestCase):
    def test_a_rank_that_narrows_alone_is_seen(self):
        """This is the control: the software NCCL names the two calls."""
        wrong = rows.faults(rows.CONTROL, rows.play(BUILD, rows.CONTROL))
        self.assertTrue(any("float32" in line and "bfloat16" in line for line in wrong), wrong)

    def test_a_port_that_no_rank_needs_is_seen(self):
        """This is the control of the rows in which no rank, or not rank 0, has a level."""
        with self.assertRaisesRegex(Failed, "tail of the unique ID: expected zeros, got 434f544c0100"):
            rows.play(BUILD, rows.WITH_A_PORT)


if __name__ == "__main__":
    unittest.main()

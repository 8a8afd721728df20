"""Tests what benchmarks/quality/suite_lacks.py calls a whole table."""

import unittest

from benchmarks.quality import suite_lacks
from benchmarks.quality.suite_lacks import Lack, faults_of

_LACK = Lack("no_door", "a house without a door", ("walls", "door"), None, (("gpu_wall", "north"),),
             (("gpu_door", "", "no door"),))
_TABLE = "walls: ok\ndoor: not run: no door\n"


def line(figure, case, value, **remarks):
    return {"figure": figure, "case": case, "value": value, "remarks": remarks}


_LINES = [line("gpu_wall", "north_1", 3), line("gpu_door", "not_measured_by_door", None, reason="there is no door")]


class Whole(unittest.TestCase):

    def test_a_whole_table(self):
        self.assertEqual(faults_of(_LACK, 0, "", _TABLE, _LINES), [])
        self.assertEqual(faults_of(_LACK, 1, "", _TABLE, _LINES), [])

    def test_each_thing_that_is_missing_is_found(self):
        wall, door = _LINES
        for code, said, table, lines, words in (
                (2, "", _TABLE, _LINES, "the run ended with 2"),
                (None, "", _TABLE, _LINES, "the run ended with None"),
                (1, "Traceback (most recent call last):\n", _TABLE, _LINES, "a fault of its own"),
                (1, "", "walls: ok\n", _LINES, "door: the table does not say what became of it"),
                (1, "", _TABLE, [door], "gpu_wall north: expected a value, got none"),
                (1, "", _TABLE, [wall | {"value": None}, door], "gpu_wall north: expected a value, got none"),
                (1, "", _TABLE, [wall], "gpu_door : expected a line with the reason 'no door', got no line"),
                (1, "", _TABLE, [wall, line("gpu_door", "x", None, reason="rain")], "got ['rain")):
            found = faults_of(_LACK, code, said, table, lines)
            self.assertEqual(len(found), 1, found)
            self.assertIn(words, found[0])

    def test_each_promise_of_a_part_is_asked_for(self):
        promises = {"walls": ("gpu_wall",), "door": ("gpu_door",)}
        self.assertEqual(faults_of(_LACK, 1, "", _TABLE, _LINES, promises), [])
        self.assertEqual(faults_of(_LACK, 1, "", _TABLE, _LINES, promises | {"walls": ("gpu_wall", "gpu_window")}),
                         ["walls: expected a line gpu_window, got none"])

    def test_a_part_that_ended_early_owes_each_figure_a_line(self):
        table = _TABLE.replace("walls: ok", "walls: in part: no end after 8 s")
        promises = {"walls": ("gpu_wall",), "door": ("gpu_door",)}
        self.assertEqual(faults_of(_LACK, 1, "", table, _LINES, promises),
                         ["walls: expected a line gpu_wall not_measured_by_walls, got none"])
        more = [*_LINES, line("gpu_wall", "not_measured_by_walls", None, reason="no end after 8 s")]
        self.assertEqual(faults_of(_LACK, 1, "", table, more, promises), [])
        unasked = _LINES[:1] + [line("gpu_door", "front", None, reason="there is no door")]
        self.assertEqual(faults_of(_LACK, 1, "", _TABLE, unasked, promises),
                         ["door: expected a line gpu_door not_measured_by_door, got none"])

    def test_the_first_ten_minutes_are_played_under_three(self):
        played = {lack.name: lack for lack in suite_lacks.LACKS if lack.first}
        self.assertEqual(set(played), {"no_jit_compiler", "mps_server_cannot_start", "not_root"})
        within = played["not_root"].in_first()
        self.assertIn("litmus", within.parts)
        self.assertNotIn("users", within.parts)
        self.assertIsNone(played["not_root"].for_older().first)

    def test_there_are_twelve_and_each_asks_for_something(self):
        self.assertEqual(len({lack.name for lack in suite_lacks.LACKS}), 12)
        for lack in suite_lacks.LACKS:
            self.assertTrue(lack.measured or lack.says, lack.name)

    def test_an_older_suite_is_asked_for_what_it_has(self):
        older = next(lack for lack in suite_lacks.LACKS if lack.newer).for_older()
        self.assertNotIn("mps_sights", older.parts)
        self.assertFalse(any(figure == "gpu_mps_sights" for figure, *_ in older.says))
        self.assertTrue(older.says)


if __name__ == "__main__":
    unittest.main()

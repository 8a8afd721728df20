"""Tests how strange programs are judged, and how the list of an older library's sources is read."""

import unittest
from dataclasses import replace

from benchmarks.faults import lost_budgets, strange_programs
from benchmarks.runner import older_library
from testing.processes import Failed

_PROGRAM = strange_programs.Program("one", ("BUILD/one",))
_SOUND = strange_programs.Seen(("sound", "sound"), ("exit code 0", "exit code 0"), True, ("version 0\n", ""), ("", ""))


class Programs(unittest.TestCase):

    def wrong(self, program=_PROGRAM, **differs):
        return strange_programs.wrong_with(program, replace(_SOUND, **differs), _SOUND)

    def test_a_sound_one(self):
        self.assertEqual(self.wrong(), "")

    def test_each_thing_that_goes_wrong_is_named(self):
        self.assertIn("rank 1: wrong: data is gone", self.wrong(verdicts=("sound", "wrong: data is gone")))
        self.assertIn("no verdict; signal SIGSEGV", self.wrong(verdicts=("", "sound"), ends=("signal SIGSEGV", "")))
        self.assertIn("rank 0 ended with exit code 1", self.wrong(ends=("exit code 1", "exit code 0")))
        self.assertIn("as without the library", self.wrong(answers=("version 34\n", "")))
        self.assertIn("turns on each GPU", self.wrong(turns=False))

    def test_what_the_library_has_to_say(self):
        program = replace(_PROGRAM, says="other ranks")
        self.assertIn("did not write 'other ranks'", self.wrong(program))
        self.assertEqual(self.wrong(program, said=("", "crossover: other ranks may\n")), "")

    def test_there_are_ten_of_each_kind(self):
        for kind, programs in strange_programs.KINDS.items():
            with self.subTest(kind=kind):
                self.assertEqual(len({program.name for program in programs}), 10)
        self.assertEqual(len(lost_budgets.LAUNCHERS), 10)
        self.assertIn("sshd", lost_budgets.LAUNCHERS)


class Budgets(unittest.TestCase):
    _TOLD = "crossover: its pod may have 67108864 bytes on each GPU\n"

    def test_the_budget_and_no_more(self):
        self.assertEqual(lost_budgets.wrong_with(64, 0, self._TOLD), "")
        self.assertIn("got 256 and was not refused more", lost_budgets.wrong_with(256, 0, self._TOLD))
        self.assertIn("got 63", lost_budgets.wrong_with(63, 0, self._TOLD))
        self.assertIn("did not write", lost_budgets.wrong_with(64, 0, ""))
        self.assertIn("ended with None", lost_budgets.wrong_with(None, None, ""))


class Recipes(unittest.TestCase):

    def test_sources_and_options_are_read(self):
        recipe = older_library.recipe_of("set(CROSSOVER_SIDECAR_SOURCES\n    a/b.cc\n    c.cc)\n"
                                         "set(CROSSOVER_SIDECAR_ENTRIES d.S)\nset(CROSSOVER_SIDECAR_OPTIONS -fx\n -fy)")
        self.assertEqual(recipe, older_library.Recipe(("a/b.cc", "c.cc", "d.S"), ("-fx", "-fy")))

    def test_a_list_that_is_missing_is_named(self):
        with self.assertRaisesRegex(Failed, r"expected set\(CROSSOVER_SIDECAR_SOURCES \.\.\.\)"):
            older_library.recipe_of("")


if __name__ == "__main__":
    unittest.main()

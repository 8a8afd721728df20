"""Tests what `unchanged` calls a word of users, a sample and a worse line."""

import unittest

from benchmarks.quality import unchanged, words_of_users


class Words(unittest.TestCase):
    def test_each_kind_is_found_in_literals_alone(self):
        found = words_of_users.words_in(['#include "GangWaits.h"\n// "NotInAComment"\n'
                                         'Say("crossover_turns_total", "GangWaits", "--only, CROSSOVER_LOG=info");\n'
                                         'Get("crossover.dev/gang-size"); NotQuoted();\n'])
        self.assertEqual(found, {"metrics": {"crossover_turns_total"}, "annotations and labels": {
            "crossover.dev/gang-size"}, "variables": {"CROSSOVER_LOG"}, "reasons and kinds": {"GangWaits"},
            "flags": {"--only"}})

    def test_a_word_that_is_gone_counts(self):
        context = None
        line = unchanged.measure(context, "words")
        [measured] = line
        self.assertTrue(all(control.caught for control in measured.controls))


class Worse(unittest.TestCase):
    def test_the_sense_of_the_goal_counts(self):
        before, more = [10.0, 10.2, 10.1], [11.0, 11.1, 11.2]
        self.assertTrue(unchanged.is_worse("<= 12, worst run", before, more))
        self.assertFalse(unchanged.is_worse(">= 9", before, more))
        self.assertTrue(unchanged.is_worse(">= 9 at the median", more, before))
        self.assertTrue(unchanged.is_worse("none", before, more))

    def test_less_than_the_noise_of_either_tree_is_no_change(self):
        self.assertFalse(unchanged.is_worse("<= 12", [10.0, 11.0], [10.9, 10.9]))
        self.assertFalse(unchanged.is_worse("<= 12", [10.0, 10.0], [10.5, 11.5]))

    def test_without_noise_one_more_is_worse(self):
        self.assertTrue(unchanged.is_worse("<= 40", [30, 30], [31, 31]))
        self.assertFalse(unchanged.is_worse("<= 40", [30, 30], [30, 30]))


if __name__ == "__main__":
    unittest.main()

"""Tests the list of wanted differences and what is judged by it."""

import unittest

from testing.referee import compare, wanted
from testing.referee.wanted import Compared, Lacking

_LIST = """
# This line is a remark.
[newer libcuda1 below 12.5: CUDA 12.5 introduced it]
table cuNew

[lacks libcuda1 from 12.3: no runtime asks for it]
answer cuOld 2000 any
"""


def judge(*compared, version=(12, 4)):
    return wanted.judge(compared, wanted.read(_LIST), "libcuda1", version)


NEW = Compared("table cuNew", "from 12050", "absent", Lacking.DRIVER)
OLD = Compared("answer cuOld 2000 any", "absent", "cuOld", Lacking.OURS)


class Judged(unittest.TestCase):
    def test_what_is_listed_is_no_difference(self):
        self.assertEqual(judge(NEW, OLD), wanted.Verdict(2, [], 2))

    def test_what_is_not_listed_is_one(self):
        other = Compared("table cuOther", "from 2000", "from 2010")
        self.assertEqual(judge(NEW, OLD, other).differing,
                         ["table cuOther: ours: from 2000; libcuda1: from 2010"])

    def test_an_entry_holds_within_its_versions(self):
        self.assertEqual(judge(NEW, OLD, version=(12, 5)).differing,
                         ["table cuNew: ours: from 12050; libcuda1: absent"])
        self.assertEqual(judge(NEW, OLD, version=(12, 2)).differing,
                         ["answer cuOld 2000 any: ours: absent; libcuda1: cuOld"])
        self.assertEqual(wanted.judge([OLD], wanted.read(_LIST), "nvidia-cuda-mps", (550,)).listed, 0)

    def test_an_entry_that_no_longer_differs_is_a_fault(self):
        same = Compared("answer cuOld 2000 any", "cuOld", "cuOld")
        self.assertEqual(judge(NEW, same).differing, ["wanted.txt:7: answer cuOld 2000 any no longer differs: cuOld"])
        self.assertEqual(judge(NEW).differing, ["wanted.txt:7: answer cuOld 2000 any is compared nowhere"])

    def test_an_entry_excuses_only_the_side_that_it_names(self):
        for lacking in (Lacking.NEITHER, Lacking.OURS):
            has = Compared("table cuNew", "from 12050", "from 12040", lacking)
            self.assertIn("table cuNew may not be listed as 'newer'", judge(has, OLD).differing[0])
        has = Compared("answer cuOld 2000 any", "another", "cuOld", Lacking.NEITHER)
        self.assertIn("answer cuOld 2000 any may not be listed as 'lacks'", judge(NEW, has).differing[0])


class Read(unittest.TestCase):
    def test_the_list_that_is_used(self):
        self.assertTrue(compare.wanted_list())

    def test_mistakes_are_named_with_their_line(self):
        for text, expected in (
                ("table cuNew", "wanted.txt:1: 'table cuNew': expected a section"),
                ("\n[lack libcuda1: x]", r"wanted.txt:2: '\[lack libcuda1: x\]': expected \[newer PACKAGE"),
                ("[lacks libcuda1: ]", r"expected \[newer PACKAGE"),
                ("[lacks libcuda2: x]", "wanted.txt:1: package 'libcuda2': expected libcuda1, libnvidia-ml1"),
                ("[newer libcuda1: x]", "expected 'below VERSION'"),
                ("[lacks libcuda1: x]\na\na", "wanted.txt:3: 'a' stands twice for libcuda1"),
                ("[lacks libcuda1 below 12.4: x]\na\n[lacks libcuda1 from 12.3: x]\na",
                 "wanted.txt:4: 'a' stands twice")):
            with self.subTest(text), self.assertRaisesRegex(ValueError, expected):
                wanted.read(text)

    def test_a_subject_may_stand_for_other_packages_and_versions(self):
        text = "[lacks libcuda1 below 12.4: x]\na\n[lacks libcuda1 from 12.4: x]\na\n[lacks libnvidia-ml1: x]\na"
        self.assertEqual(len(wanted.read(text)), 3)


if __name__ == "__main__":
    unittest.main()

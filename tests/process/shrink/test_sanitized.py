"""Tests the library with the address and the undefined-behaviour sanitizer inside ranks: in votes and their faults, and
around calls at each level. Any report fails the test."""

import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from testing.commands import Build
from testing.shrink import rows
from testing.shrink.job import Job, RankSettings

BUILD = Build(Path(os.environ.get("BUILD", "")))
_RUNTIME = os.environ.get("SANITIZER_RUNTIME", "")
_LIBRARIES = (_RUNTIME, os.environ.get("SANITIZED_LIBRARY", ""))
_PLANTED = (_RUNTIME, os.environ.get("PLANTED_LIBRARY", ""))
# The memory of the ranks themselves is not checked: what they leak does not count.
_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1",
            "UBSAN_OPTIONS": "print_stacktrace=1"}
_REPORT = re.compile(r"ERROR: AddressSanitizer|runtime error:|AddressSanitizer:")
# Together they go through all messages, ends of a vote and ways to make and end communicators. shrink.Vote plays all.
_ROWS = ("agree_with_config", "split_in_group", "second_communicator", "other_version", "image_missing_on_rank_1",
         "budget_refused_on_rank_0", "init_in_group", "second_after_a_refusal_by_rank_1", "rank_1_cut_said_hello",
         "rank_0_cut_heard", "rank_1_late_to_say_hello", "garbage", "wrong_id", "hello_twice", "verdict_for_another",
         "tail_unknown", "q8_behind_one_within_the_node", "q8_scattered", "q8_split",
         "q8_cut_in_the_sums_of_the_nodes", "adaptive_cut_in_the_call_that_says_errors")
_JOBS = (("bf16", "kinds", (0, 0), {}), ("q8", "kinds", (0, 0, 1, 1), {}), ("adaptive", "plans135", (0, 1, 2), {}),
         ("adaptive", "counts66", (0, 1), {}), ("advise", "errors", (0, 0), {}),
         ("advise", "sum", (0, 0), {"SIMGPU_FAULT": "host_register_fails"}))


@mock.patch.dict(os.environ, _OPTIONS)
class Sanitized(unittest.TestCase):
    def expect_clean(self, ended):
        for end in ended.values():
            self.assertIsNone(_REPORT.search(end.errors), end.errors)

    def run_job(self, level, scenario, nodes, environment, file="faulty"):
        with tempfile.TemporaryDirectory() as folder, Job(BUILD, folder, len(nodes), scenario, nodes,
                                                          _LIBRARIES) as job:
            for rank in range(job.ranks):
                report = {"CROSSOVER_SHRINK_REPORT": f"{folder}/report-{rank}-"}
                job.start(rank, RankSettings(file=file, shrink=level, environment={**environment, **report}))
            ended = job.wait()
        self.expect_clean(ended)
        for end in ended.values():
            self.assertEqual((end.code, "other" in end.sums()), (0, False), end)
        return ended

    def test_in_votes_and_their_faults(self):
        by_name = {row.name: row for row in rows.ROWS}
        for name in _ROWS:
            with self.subTest(row=name):
                ended = rows.play(BUILD, by_name[name], _LIBRARIES)
                self.expect_clean(ended)
                self.assertEqual(rows.faults(by_name[name], ended), [], ended)

    def test_at_each_level(self):
        for level, scenario, nodes, environment in _JOBS:
            with self.subTest(level=level, scenario=scenario):
                ended = self.run_job(level, scenario, nodes, environment)
                expected = {"plain"} if level == "advise" else {"narrow"}
                self.assertEqual({word for end in ended.values() for word in end.sums()}, expected)

    def test_in_front_of_the_library_of_turns(self):
        gang = {"CROSSOVER_GANG": "a", "CROSSOVER_GANG_SIZE": "2"}
        for end in self.run_job("q8", "kinds", (0, 1), gang, file="both").values():
            self.assertEqual(end.sums(), {"narrow"}, end)

    def test_what_is_planted_is_reported(self):
        """This is the control. Each fault is within a function of the library, not in what the test adds."""
        for planted, report, where in (("heap", "AddressSanitizer: heap-buffer-overflow", "reason.cc"),
                                       ("undefined", "runtime error: signed integer overflow", "sockets.cc")):
            with self.subTest(planted), mock.patch.dict(os.environ, PLANTED=planted):
                said = "".join(end.errors for end in rows.play(BUILD, rows.ROWS[0], _PLANTED).values())
                self.assertRegex(said, f"{where}.*{report}" if planted == "undefined" else report)
                self.assertIn(where, said)
                self.assertRegex(said, _REPORT)


if __name__ == "__main__":
    unittest.main()

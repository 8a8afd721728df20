"""Tests the lines of users_ipc without any run."""

import unittest
from unittest import mock

from benchmarks import run
from benchmarks.isolation import mps_users, users_ipc
from benchmarks.runner import catalogue, results
from benchmarks.runner.context import Context


class Lines(unittest.TestCase):

    def lines(self, case, shipped, control):
        with (mock.patch.object(mps_users, "shipped", lambda *_: shipped),
              mock.patch.object(mps_users, "control", lambda *_: control)):
            context, kind = Context(mock.Mock(), lambda text: None, runs=1), catalogue.FIGURES["users_ipc"].kind
            measured = list(run._measured(context, "users_ipc", users_ipc, case))  # pylint: disable=protected-access
        return {each.figure: results.line(each, "chain", "here", "run", kind) for each in measured}

    def test_runs_that_are_served_are_good(self):
        for case, (_, word) in mps_users.CASES.items():
            with self.subTest(case=case):
                line = self.lines(case, ("", 0.1), f"job alpha: {word} after 30 s")["users_ipc"]
                self.assertEqual((line["value"], line["ok"]), (0, True))

    def test_a_control_that_fails_for_another_reason_is_no_control(self):
        line = self.lines("fatal_fault", ("", None), "a port was taken")["users_ipc"]
        self.assertFalse(line["ok"])

    def test_each_bad_run_counts(self):
        lines = self.lines("second_user", ("the job hung", None), "all ranks are ready")
        self.assertEqual((lines["users_ipc"]["value"], lines["users_ipc"]["ok"]), (10, False))
        self.assertNotIn("users_ipc_wait", lines)


if __name__ == "__main__":
    unittest.main()

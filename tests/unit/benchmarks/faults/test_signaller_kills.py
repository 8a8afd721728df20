"""Tests what benchmarks/faults/signaller_kills.py reads from a trace."""

import unittest
from dataclasses import fields, replace
from unittest import mock

from benchmarks.faults import signal_faults, signaller_kills
from benchmarks.faults.rank_kills import Kill
from testing import faults
from testing.logs import TraceEvent

MS = 1_000_000


class Stalls(unittest.TestCase):

    def found(self, *holds, gpu="gpu", at=100, last=200):
        trace = [TraceEvent(round(t * MS), gpu, 0, "alpha", "hold") for t in holds]
        trace.append(TraceEvent(last * MS, gpu, 0, "alpha", "release"))
        return list(signaller_kills.stalls(trace, [Kill(at * MS, "gpu", "")]))

    def test_the_longest_time_between_two_turns_counts(self):
        self.assertEqual(self.found(90, 110, 150, 165, last=170), [40])

    def test_the_time_from_the_kill_on_counts(self):
        self.assertEqual(self.found(90, 170, 180, last=190), [70])

    def test_a_stall_behind_a_turn_counts_to_its_end(self):
        self.assertEqual(self.found(110, 120, 3600, last=3610), [3480])

    def test_a_stall_that_begins_long_after_the_kill_does_not_count(self):
        holds = range(110, 3300, 10)
        self.assertEqual(self.found(*holds, 9000, last=9010), [10])

    def test_no_turn_is_a_stall_to_the_end_of_the_trace(self):
        self.assertEqual(self.found(90, last=2600), [2500])
        self.assertEqual(self.found(110, gpu="another", last=400), [300])


class Rows(unittest.TestCase):

    def test_each_row_has_signallers(self):
        self.assertGreater(len(signal_faults.ROWS), 35)
        self.assertEqual([name for name, row in signal_faults.ROWS.items() if row.signallers < 1], [])

    def test_rows_of_other_gates_are_left_out(self):
        self.assertNotIn("relayed gates", signal_faults.ROWS)
        self.assertNotIn("no arbiter", signal_faults.ROWS)
        self.assertIn("kill one rank", signal_faults.ROWS)

    def test_a_strike_of_fault_matrix_comes_after_signals(self):
        order, running = [], mock.Mock()
        running.plan.early, running.machine.ranks = (), 2
        with mock.patch.object(signal_faults.transports, "await_signals", lambda *_: order.append("signals")):
            row = replace(faults.ROWS["kill one rank"], strike=lambda *_: order.append("strike"))
            signal_faults._row(row).strike(running, None)  # pylint: disable=protected-access
        self.assertEqual(order, ["signals", "strike"])

    def test_a_control_differs_from_its_row_in_one_thing(self):
        for name, row in signal_faults.ROWS.items():
            what, bad, word = signal_faults.control_of(name)
            if bad.name == row.name:
                with self.subTest(row=name):
                    differ = [each.name for each in fields(row) if getattr(row, each.name) != getattr(bad, each.name)]
                    self.assertEqual(len(differ), 1, what)
                    self.assertTrue(word)

    def test_jobs_that_end_with_mps_are_not_judged(self):
        row = signal_faults.ROWS["a server of MPS is killed"]
        self.assertTrue(row.later)
        self.assertEqual(faults._expendable(row), ("alpha", "beta"))  # pylint: disable=protected-access
        self.assertEqual(faults._judged(row), ("gamma", "delta"))  # pylint: disable=protected-access


if __name__ == "__main__":
    unittest.main()

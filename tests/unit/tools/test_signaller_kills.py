"""Tests what benchmarks/signaller_kills.py reads from a trace."""

import unittest

from benchmarks import signal_faults, signaller_kills
from benchmarks.kills import Kill
from benchmarks.logs import TraceEvent

MS = 1_000_000


class Stalls(unittest.TestCase):

    def found(self, *holds, gpu="gpu", at=100):
        trace = [TraceEvent(round(t * MS), gpu, 0, "alpha", "hold") for t in holds]
        return list(signaller_kills.stalls(trace, [Kill(at * MS, "gpu", "")]))

    def test_the_longest_time_between_two_turns_counts(self):
        self.assertEqual(self.found(90, 110, 150, 165), [40])

    def test_the_time_from_the_kill_on_counts(self):
        self.assertEqual(self.found(90, 170, 180), [70])

    def test_what_comes_long_after_the_kill_does_not_count(self):
        self.assertEqual(self.found(110, 120, 3200, 9000), [10])

    def test_no_turn_is_a_stall_to_the_end(self):
        self.assertEqual(self.found(90), [3000])
        self.assertEqual(self.found(110, gpu="another"), [3000])


class Rows(unittest.TestCase):

    def test_each_row_has_signallers(self):
        self.assertGreater(len(signal_faults.ROWS), 35)
        self.assertEqual([name for name, row in signal_faults.ROWS.items() if row.signallers < 1], [])

    def test_rows_of_other_gates_are_left_out(self):
        self.assertNotIn("relayed gates", signal_faults.ROWS)
        self.assertNotIn("no arbiter", signal_faults.ROWS)
        self.assertIn("kill one rank", signal_faults.ROWS)


if __name__ == "__main__":
    unittest.main()

"""Runs each pattern of the table on the software GPU: alone, with the library and no other job, and beside another job
that differs from it by one launch."""

import re
import unittest

from tests.frameworks import records, ways
from tests.frameworks import software_gpu as gpu
from tests.frameworks.patterns import PATTERNS, Expected, Pattern, named


class Table(unittest.TestCase):
    """Tests the table itself."""

    def test_names_and_runs_differ(self):
        self.assertEqual(len({pattern.name for pattern in PATTERNS}), len(PATTERNS))
        self.assertEqual(len({(p.script, p.arguments, p.launcher, p.environment) for p in PATTERNS}), len(PATTERNS))

    def test_an_unknown_name_is_refused_with_the_known_ones(self):
        with self.assertRaisesRegex(ValueError, "expected one of ddp, .*, got 'dpd'"):
            named("dpd")

    def test_a_job_that_takes_turns_has_no_reason_not_to(self):
        with self.assertRaisesRegex(ValueError, "expected none of a job that takes turns, got 'streams'"):
            Pattern("row", "ddp.py", expected=Expected.TURNS, reason="streams")

    def test_the_scripts_do_not_know_where_they_run(self):
        words = re.compile("crossover|simgpu|software gpu|stand.in|arbiter", re.IGNORECASE)
        self.assertTrue(words.search("on the Software GPU"))
        for script in sorted(gpu.JOBS.glob("*.py")):
            self.assertIsNone(words.search(script.read_text(encoding="utf-8")), script)


class Records(unittest.TestCase):
    """Tests what is compared."""

    _LINES = ["0 user cuLaunchKernel h7f01 1 1 1 h0", "0 user cuEventRecord h7e01 h0",
              "0 ours cuLaunchKernel h7f02 h0", "0 user cuStreamWaitEvent h7a01 h7e01 0",
              "1 user cuLaunchKernelEx h7f03", "1 nccl cuEventRecord h7e02 h7a01",
              "0 user cuEventRecordWithFlags h7e03 h7a01 0", "0 user cuStreamWaitEvent h0 h7e03 0"]

    def changed(self, before, after):
        """Returns the calls of a record in which a text is another one."""
        return records.calls([line.replace(before, after) for line in self._LINES])

    def test_a_wait_names_the_stream_behind_which_its_event_was_recorded(self):
        self.assertEqual(records.calls(self._LINES),
                         [["cuLaunchKernelEx #0"], ["cuLaunchKernel #0 1 1 1 #1", "cuStreamWaitEvent #2 #1 0"]])

    def test_another_event_and_another_address_are_no_difference(self):
        for before, after in (("h7e01", "h7e09"), ("h7f01", "h5c01")):
            self.assertEqual(self.changed(before, after), records.calls(self._LINES))

    def test_a_wait_for_another_stream_is_seen(self):
        self.assertNotEqual(self.changed("cuEventRecord h7e01 h0", "cuEventRecord h7e01 h7b01"),
                            records.calls(self._LINES))

    def test_a_wait_that_is_removed_is_seen(self):
        shorter = records.calls(records.without_wait(self._LINES))
        self.assertEqual(records.count(shorter), records.count(records.calls(self._LINES)) - 1)

    def test_a_wait_for_a_collective_does_not_count(self):
        self.assertEqual(records.calls(self._LINES[:-1]), records.calls(self._LINES))
        with self.assertRaisesRegex(ValueError, "expected a wait for a stream without collectives, got none"):
            records.without_wait(self._LINES[4:])


class Patterns(unittest.TestCase):
    """Runs the rows. Each has a test of its own, test_NAME, which the end of this file adds."""

    def run_row(self, pattern):
        """Runs a row in all three ways and compares them."""
        gpu.require(self)
        ran = ways.run(pattern)
        beside = (ran[ways.BESIDE], ran[ways.MORE])
        for job in beside:
            why = " | ".join(job.reasons) or "no reason is logged"
            print(f"\n{pattern.name}: {job.turns} turns; {why}", flush=True)
        self.assertEqual(ways.differences(pattern, ran), [])
        if pattern.expected is Expected.NOT_SEEN:
            return
        for job in beside:
            self.assertIs(job.outcome, pattern.expected, job.turns)
            self.assertEqual(job.reasons, [pattern.reason] if pattern.reason else [])


def _test_of(pattern):
    def test(self):
        self.run_row(pattern)

    return test


for _pattern in PATTERNS:
    setattr(Patterns, f"test_{_pattern.name}", _test_of(_pattern))

if __name__ == "__main__":
    unittest.main()

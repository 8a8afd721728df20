"""Runs each pattern of the table on the software GPU: alone, with the library and no other job, and beside another job
that differs from it by one launch."""

import re
import unittest

from testing.frameworks import records, software_gpu as gpu, ways
from testing.frameworks.patterns import PATTERNS, Expected, Pattern, named


class Table(unittest.TestCase):
    """Tests the table itself."""

    def test_names_and_runs_differ(self):
        self.assertEqual(len({pattern.name for pattern in PATTERNS}), len(PATTERNS))
        runs = {(p.script, p.arguments, p.launcher, p.environment, p.at_waits) for p in PATTERNS}
        self.assertEqual(len(runs), len(PATTERNS))

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
        what, lines = records.without_one(self._LINES)
        self.assertEqual(what, "one wait")
        self.assertEqual(records.count(records.calls(lines)), records.count(records.calls(self._LINES)) - 1)

    def test_an_order_of_launches_leaves_waits_out(self):
        lines = [*self._LINES, "2 user cuLaunchKernel h7f04 1 1 1 h0"]
        rank, none = (records.calls(lines, order) for order in (records.Order.RANK, records.Order.NONE))
        self.assertEqual(rank, [["cuLaunchKernel #0 1 1 1 #1", "cuLaunchKernelEx #2", "cuLaunchKernel #3 1 1 1 #1"]])
        self.assertEqual(none, [["cuLaunchKernel", "cuLaunchKernel", "cuLaunchKernelEx"]])
        turned = [*lines[:-3], lines[-1], *lines[-3:-1]]
        self.assertEqual(records.calls(turned, records.Order.NONE), none)
        for order in (records.Order.RANK, records.Order.NONE):
            what, less = records.without_one(lines, order)
            self.assertEqual((what, records.count(records.calls(less, order))), ("one launch", 2))

    def test_a_wait_for_a_collective_does_not_count(self):
        self.assertEqual(records.calls(self._LINES[:-1]), records.calls(self._LINES))
        what, lines = records.without_one(self._LINES[4:])
        self.assertEqual((what, records.calls(lines)), ("one launch", []))
        with self.assertRaisesRegex(ValueError, "expected a launch or a wait, got none"):
            records.without_one(self._LINES[5:])

    def test_a_wait_that_orders_nothing_does_not_count(self):
        own = ["0 user cuEventRecord h7e04 h0", "0 user cuStreamWaitEvent h0 h7e04 0"]
        idle = ["0 user cuEventRecord h7e04 h7b01", "0 user cuStreamWaitEvent h0 h7e04 0"]
        for waits in (own, idle):
            self.assertEqual(records.calls([*self._LINES, *waits]), records.calls(self._LINES))
        with_copy = [*self._LINES, "0 user cuMemcpyHtoDAsync_v2 h7f04 64 h7b01"]
        for lines, waits in ((self._LINES, [own[0], "0 user cuStreamWaitEvent h7b01 h7e04 0"]), (with_copy, idle)):
            self.assertNotEqual(records.calls([*lines, *waits]), records.calls(lines))


class Outcomes(unittest.TestCase):
    """Tests what is concluded from the number of turns and from what a job says."""

    _GAPS = "no collectives are seen: turns end where the GPU has nothing to do"

    def did(self, turns, said, expected, **more):
        """Returns whether a job did what a row expects."""
        return ways.Ran(said, {}, turns).did(Pattern("row", "ddp.py", expected=expected, **more))

    def test_turns(self):
        for turns, said, holds in ((50, "", True), (49, "", False), (500, self._GAPS, False),
                                   (500, "crossover: this process takes no turns: streams", False)):
            self.assertIs(self.did(turns, said, Expected.TURNS), holds, (turns, said))
        self.assertFalse(self.did(99, "", Expected.TURNS, least_turns=100))
        self.assertTrue(self.did(500, self._GAPS, Expected.GAPS))
        self.assertFalse(self.did(500, "", Expected.GAPS))

    def test_no_turns(self):
        for turns, most, holds in ((0, 0, True), (3, 3, True), (4, 3, False)):
            self.assertIs(self.did(turns, "", Expected.WATCHED, most_turns=most), holds, turns)

    def test_a_reason_that_the_row_does_not_name_is_a_surprise(self):
        row = Pattern("row", "ddp.py", expected=Expected.WATCHED, reason="streams")
        for said, surprises in (("takes no turns: streams", 0), ("takes no turns: graphs", 2), ("", 2)):
            ran = {way: ways.Ran(said, {}, 0) for way in (ways.BESIDE, ways.MORE)}
            self.assertEqual(len(ways.surprises(row, ran)), surprises, said)
        self.assertFalse(self.did(80, "takes no turns: streams", Expected.VARIES))
        self.assertTrue(self.did(80, "takes no turns: streams", Expected.STOPS, reason="streams"))
        self.assertFalse(self.did(80, "", Expected.STOPS, reason="streams"))


class Patterns(unittest.TestCase):
    """Runs the rows. Each has a test of its own, test_NAME, which the end of this file adds."""

    def run_row(self, pattern):
        """Runs a row in all three ways and compares them."""
        gpu.require(self, pattern.needs)
        ran = ways.run(pattern)
        for job in (ran[ways.BESIDE], ran[ways.MORE]):
            why = " | ".join(job.reasons) or "no reason is logged"
            print(f"\n{pattern.name}: {job.turns} turns; {why}", flush=True)
        self.assertEqual(ways.differences(pattern, ran) + ways.surprises(pattern, ran), [])


def _test_of(pattern):
    def test(self):
        self.run_row(pattern)

    return test


for _pattern in PATTERNS:
    setattr(Patterns, f"test_{_pattern.name}", _test_of(_pattern))

if __name__ == "__main__":
    unittest.main()

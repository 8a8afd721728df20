"""Runs each pattern of the table on the software GPU: alone, with the library and no other job, and beside another job
that differs from it by one launch."""

import re
import tempfile
import unittest

from tests.frameworks import software_gpu as gpu
from tests.frameworks.patterns import PATTERNS, Expected, Pattern, named
from tests.frameworks.records import count, launches

_LEAST_TURNS = 50  # of each job whose row says that it takes turns, see test_jobs.py
_KERNEL_SCALE = 40
_RANKS = (0, 1)
_WATCHED = "takes no turns: "


def peaks(said):
    """Returns the peaks of memory that the ranks of a job have said, by rank."""
    return dict(re.findall(r"^rank (\d+) done, peak (\d+) bytes$", said, re.MULTILINE))


class Table(unittest.TestCase):
    """Tests the table itself."""

    def test_names_and_runs_differ(self):
        self.assertEqual(len({pattern.name for pattern in PATTERNS}), len(PATTERNS))
        self.assertEqual(len({(pattern.script, pattern.arguments) for pattern in PATTERNS}), len(PATTERNS))

    def test_an_unknown_name_is_refused_with_the_known_ones(self):
        with self.assertRaisesRegex(ValueError, "expected one of ddp, .*, got 'dpd'"):
            named("dpd")

    def test_a_job_that_takes_turns_has_no_reason_not_to(self):
        with self.assertRaisesRegex(ValueError, "expected none of a job that takes turns, got 'streams'"):
            Pattern("row", "ddp.py", expected=Expected.TURNS, reason="streams")

    def test_the_scripts_do_not_know_where_they_run(self):
        words = re.compile("crossover|simgpu|software gpu|stand.in|arbiter", re.IGNORECASE)
        self.assertTrue(words.search("on the Software GPU"))
        for script in {pattern.script for pattern in PATTERNS} | {"training.py"}:
            self.assertIsNone(words.search((gpu.JOBS / script).read_text(encoding="utf-8")), script)


class Patterns(unittest.TestCase):
    """Runs the rows. Each has a test of its own, test_NAME, which the end of this file adds."""

    def machine(self):
        """Returns a machine of its own, for one or two jobs."""
        gpu.require(self)
        directory = self.enterContext(tempfile.TemporaryDirectory(dir="/dev/shm"))
        return self.enterContext(gpu.Machine(directory, kernel_scale=_KERNEL_SCALE))

    def finish(self, machine, job, process):
        """Waits for a job, which must end well and call nothing that is refused. Returns what it said."""
        said = machine.finish(job, process)
        self.assertEqual(len(peaks(said)), len(_RANKS), said)
        self.assertNotRegex(said, "(?m)^simgpu .* refused ")
        return said

    def run_row(self, pattern):
        """Runs a row in all three ways and compares them."""
        options = (*pattern.arguments, "--steps", pattern.steps)
        bare, single, shared = self.machine(), self.machine(), self.machine()
        single.start_arbiter()
        alone = bare.start("alone", pattern.script, *options)
        under = single.start("under", pattern.script, *options, library=True)
        said = {"alone": self.finish(bare, "alone", alone), "under": self.finish(single, "under", under)}
        shared.start_arbiter()
        pair = {"a": shared.start("a", pattern.script, *options, library=True),
                "b": shared.start("b", pattern.script, *options, "--one-more-at", pattern.steps // 2, library=True)}
        for job, process in pair.items():
            said[job] = self.finish(shared, job, process)
        self.compare_launches(pattern, (bare, single, shared))
        if not pattern.memory_varies:
            self.assertEqual([peaks(said[job]) for job in ("under", "a")], [peaks(said["alone"])] * 2)
        for job in pair:
            self.compare_turns(pattern, shared.turns()[job], said[job])

    def compare_launches(self, pattern, machines):
        """Asserts that counts and order are the same, but for the job that launches one kernel more."""
        bare, single, shared = machines
        for rank in _RANKS:
            alone = launches(bare.record("alone", rank))
            self.assertGreater(count(alone), pattern.least_launches * pattern.steps)
            self.assertEqual(launches(single.record("under", rank)), alone, "with the library and no other job")
            self.assertEqual(launches(shared.record("a", rank)), alone, "beside another job")
            more = launches(shared.record("b", rank))
            self.assertNotEqual(more, alone, "one launch more would be seen")
            self.assertEqual(count(more), count(alone) + 1)

    def compare_turns(self, pattern, turns, said):
        """Asserts that a job takes turns or is watched as its row says, and that the user is told why."""
        told = re.findall(re.escape(_WATCHED) + "(.*)", said)
        print(f"\n{pattern.name}: {turns} turns; {' | '.join(sorted(set(told))) or 'no reason is logged'}",
              flush=True)
        if pattern.expected is Expected.TURNS:
            self.assertGreaterEqual(turns, _LEAST_TURNS)
            self.assertEqual(told, [])
        elif pattern.expected is Expected.WATCHED:
            self.assertEqual(turns, 0)
            self.assertEqual(set(told), {pattern.reason} - {""})


def _test_of(pattern):
    def test(self):
        self.run_row(pattern)

    return test


for _pattern in PATTERNS:
    setattr(Patterns, f"test_{_pattern.name}", _test_of(_pattern))

if __name__ == "__main__":
    unittest.main()

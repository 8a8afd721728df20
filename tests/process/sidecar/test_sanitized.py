"""Tests the library with the address and the undefined-behaviour sanitizer inside real jobs: beside a neighbour that is
killed, without its arbiter, with NCCL linked in, with graphs, host gates and time slices. Any report fails the test."""

import os
import re
import unittest

from tests.process.sidecar.test_sidecar import Machine, await_event

_PRELOAD = f"{os.environ.get('SANITIZER_RUNTIME', '')}:{os.environ.get('SANITIZED_LIBRARY', '')}"
_PLANTED = f"{os.environ.get('SANITIZER_RUNTIME', '')}:{os.environ.get('PLANTED_LIBRARY', '')}"
# The trainer's own memory is not checked: what it leaks does not count.
_OPTIONS = {"ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1:strict_string_checks=1",
            "UBSAN_OPTIONS": "print_stacktrace=1"}
_REPORT = re.compile(r"ERROR: AddressSanitizer|runtime error:|AddressSanitizer:")


class Sanitized(unittest.TestCase):
    def start(self, machine, job, iterations, *options, library=_PRELOAD, **extra):
        options = (f"--iterations={iterations}", *options)
        return machine.start(job, library=library, options=options, **_OPTIONS, **extra)

    def expect_clean(self, said):
        for text in said:
            self.assertIsNone(_REPORT.search(text), text)

    def finish(self, machine, job, ranks):
        """Waits for a job, and asserts that it ends well and without a report."""
        summary, said = machine.finish(job, ranks)
        self.expect_clean(said)
        return summary, said

    def expect_turns(self, machine, job):
        turns = sum(event["event"] == "hold" and event["gang"] == job for event in machine.events())
        self.assertGreater(turns, 10, "turns were taken")

    def test_beside_a_neighbour_that_is_killed(self):
        machine = Machine(self)
        alone, _ = machine.finish("s", machine.start("s", library=None, options=("--iterations=80",)))
        jobs = {name: self.start(machine, name, 80) for name in "ab"}
        await_event(machine, "hold", 20)
        for rank in jobs["b"]:
            rank.kill()
        self.expect_clean([rank.communicate()[1] for rank in jobs["b"]])
        summary, _ = self.finish(machine, "a", jobs["a"])
        self.assertEqual(summary["losses_digest"], alone["losses_digest"])
        self.expect_turns(machine, "a")

    def test_that_loses_its_arbiter_and_finds_another(self):
        machine = Machine(self)
        jobs = {name: self.start(machine, name, 150) for name in "ab"}
        await_event(machine, "hold", 20)
        machine.arbiter.kill()
        machine.arbiter.wait()
        machine.trace.unlink()
        machine.start_arbiter(self, ())
        await_event(machine, "join", 2)
        for name, ranks in jobs.items():
            _, said = self.finish(machine, name, ranks)
            self.assertIn("the arbiter is lost", "".join(said))

    def test_in_all_ways_to_launch_and_to_wait(self):
        for name, options, program, extra in (
                ("linked", (), "trainer_static_nccl", {}),
                ("graphs", ("--launch=graphs", "--stream=own"), "trainer", {}),
                ("host gates", ("--variant=broadcast_buffers",), "trainer", {"CROSSOVER_GATES": "host"}),
                ("relayed gates", ("--variant=loss_allreduce",), "trainer", {"CROSSOVER_GATES": "relay"})):
            with self.subTest(name):
                machine = Machine(self)
                jobs = {job: self.start(machine, job, 50, *options, program=program, **extra) for job in "ab"}
                for job, ranks in jobs.items():
                    self.finish(machine, job, ranks)
                self.expect_turns(machine, "a")

    def test_what_is_planted_is_reported(self):
        """This is the control."""
        for planted, report in (("heap", "AddressSanitizer: heap-buffer-overflow"),
                                ("undefined", "runtime error: signed integer overflow")):
            with self.subTest(planted):
                machine = Machine(self)
                jobs = [self.start(machine, job, 50, library=_PLANTED, PLANTED=planted) for job in "ab"]
                said = "".join(rank.communicate(timeout=120)[1] for ranks in jobs for rank in ranks)
                self.assertIn(report, said)
                self.assertRegex(said, _REPORT)


if __name__ == "__main__":
    unittest.main()

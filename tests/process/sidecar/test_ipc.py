"""Tests jobs whose streams wait for signals in device memory, with the real arbiter and real signallers: together,
beside jobs without signals, and where something of it fails."""

import os
import re
import signal
import subprocess
import unittest

from tests.process.sidecar.test_sidecar import SIMGPU, Machine, await_event, said_by_library

_SIGNALLER = os.environ.get("SIGNALLER", "")
_IPC = ("--transport", "ipc")
AWAITS = "streams wait for signals in device memory"
_OTHERS = "got another client of this GPU without them"
SIGNALLED = r"takes turns by signalled_gates now"


class WithSignallers(unittest.TestCase):
    """Runs jobs on a machine with an arbiter, and a signaller for each of its two GPUs."""

    def setUp(self):
        self.machine = None
        self.alone = None
        self.gpus = []

    def prepare(self, arbiter_options=_IPC, signallers=True, iterations=120, mode="mps"):
        """Starts the arbiter and a signaller for each GPU, and runs the job alone."""
        self.machine = Machine(self, arbiter_options=arbiter_options, mode=mode)
        self.options = (f"--iterations={iterations}",)
        self.alone, _ = self.machine.finish("s", self.machine.start("s", library=None, options=self.options))
        if not signallers:
            return []
        found = self.signaller("GPU-00000000-0000-0000-0000-00000000dead").stderr.read()
        self.gpus = re.search(r"expected a GPU of this machine \((.*)\)", found).group(1).split(", ")
        self.assertEqual(len(self.gpus), 2, found)
        return [self.signaller(gpu) for gpu in self.gpus]

    def signaller(self, gpu):
        no_mps = self.machine.directory / "no-mps"
        no_mps.mkdir(exist_ok=True)
        process = subprocess.Popen(
            [_SIGNALLER, "--gpu", gpu, "--socket", self.machine.socket, "--no-mps", no_mps],
            env={**self.machine.environment, "LD_LIBRARY_PATH": SIMGPU}, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start(self, **jobs):
        """Starts a job for each name, with the environment that it is given."""
        return {name: self.machine.start(name, options=self.options, CROSSOVER_LOG="info", **environment)
                for name, environment in jobs.items()}

    def finish(self, jobs, seldom_opened=False):
        """Asserts that all jobs take turns and compute what the job alone computes. Returns {job: its lines}, and what
        the arbiter wrote. `seldom_opened`: as for Machine.assert_watchdog_opened_none."""
        said = {}
        for name, ranks in jobs.items():
            summary, lines = self.machine.finish(name, ranks)
            said[name] = said_by_library(lines)
            self.assertEqual(summary["losses_digest"], self.alone["losses_digest"], said[name])
        return said, self.took_turns(said, seldom_opened)

    def took_turns(self, said, seldom_opened=False):
        """Asserts that the jobs that said this took turns. Ends the arbiter, and returns what it wrote."""
        events = self.machine.events()
        for name, lines in said.items():
            self.assertGreater(sum(e["event"] == "hold" and e["gang"] == name for e in events), 20, lines)
        self.machine.assert_watchdog_opened_none(self, seldom_opened)
        self.machine.arbiter.terminate()
        return self.machine.arbiter.stderr.read()

    def both(self, lines, text):
        """Asserts that both ranks say this. On a machine that stands still for a while, they say it again."""
        self.assertGreaterEqual(lines.count(text), 2, lines)

    def arbiter_says(self, pattern):
        """Reads the arbiter's log up to a line with the pattern."""
        for line in self.machine.arbiter.stderr:
            if re.search(pattern, line):
                return
        self.fail(f"the arbiter has ended, expected it to say: {pattern}")


class Ipc(WithSignallers):

    def test_two_jobs_with_signals(self):
        self.prepare()
        said, arbiter = self.finish(self.start(a={"CROSSOVER_GATES": "ipc"}, b={}))
        for lines in said.values():
            self.both(lines, AWAITS)
        self.assertGreaterEqual(len(re.findall(SIGNALLED, arbiter)), 4, arbiter)

    def test_on_two_hardware_queues(self):
        self.on_hardware_queues(2)

    def test_on_one_hardware_queue(self):
        self.on_hardware_queues(1)

    def on_hardware_queues(self, count):
        """The copies of the set-up stand behind the job's own work there, and end with it."""
        self.prepare()
        queue = {"SIMGPU_FAULT": f"queues:{count}"}
        said, _ = self.finish(self.start(a=queue, b=queue), seldom_opened=count == 1)
        for lines in said.values():
            self.both(lines, AWAITS)

    def test_without_an_offer_nothing_changes(self):
        self.prepare(arbiter_options=(), signallers=False)
        said, arbiter = self.finish(self.start(a={"CROSSOVER_GATES": "ipc"}, b={}))
        self.both(said["a"], "expected an arbiter that offers signals, got none")
        self.assertNotIn("signals", said["b"])
        self.assertNotIn(AWAITS, said["a"])
        self.assertNotRegex(arbiter, SIGNALLED)

    def test_in_time_slices(self):
        self.prepare(mode="timeslice")
        for name, ranks in self.start(a={"CROSSOVER_GATES": "ipc"}, b={}).items():
            summary, lines = self.machine.finish(name, ranks)
            said = said_by_library(lines)
            self.assertEqual(summary["losses_digest"], self.alone["losses_digest"], said)
            self.assertEqual(said.count("signals: expected MPS, got time slices; streams wait at the turnstile alone"),
                             2, said)
            self.assertNotIn(AWAITS, said)

    def test_beside_a_job_without_signals(self):
        self.prepare()
        said, _ = self.finish(self.start(a={"CROSSOVER_GATES": "ipc"}, b={"CROSSOVER_GATES": "gpu"}))
        self.both(said["a"], _OTHERS)
        self.assertNotIn("signals", said["b"])

    def test_signallers_that_are_killed_while_streams_wait(self):
        self.tells_of_the_beat(self.ends_in_the_midst(signal.SIGKILL))

    def test_signallers_that_are_stopped_while_streams_wait(self):
        self.tells_of_the_beat(self.ends_in_the_midst(signal.SIGSTOP))

    def test_signallers_that_are_killed_beside_others_that_stand_ready(self):
        """On two hardware queues the library's own copy may stand behind the wait that it is to end."""
        signallers = self.prepare()
        for gpu in self.gpus:
            self.signaller(gpu)
        self.ends_in_the_midst(signal.SIGKILL, signallers, SIMGPU_FAULT="queues:2")

    def ends_in_the_midst(self, what, signallers=None, **environment):
        """Ends the signallers while jobs run. Returns what the jobs said, {job: its lines}."""
        signallers = signallers or self.prepare()
        jobs = self.start(a=environment, b=environment)
        await_event(self.machine, "hold", 60)
        for signaller in signallers:
            signaller.send_signal(what)
        said, _ = self.finish(jobs)
        for lines in said.values():
            self.both(lines, AWAITS)
        return said

    def tells_of_the_beat(self, said):
        """Asserts that the jobs go back to the turnstile alone. The one that sees first that a beat stands still says
        so. The arbiter may tell the other one of that client before it sees the same."""
        still = r"signals: expected a signaller .*; streams wait at the turnstile alone"
        for lines in said.values():
            self.assertRegex(lines, f"{still}|{_OTHERS}")
        self.assertRegex("\n".join(said.values()), still)

    def test_the_arbiter_and_the_signallers_die_at_once(self):
        """What is queued is signalled by the library's own thread."""
        signallers = self.prepare()
        jobs = self.start(a={}, b={})
        await_event(self.machine, "hold", 60)
        for process in (self.machine.arbiter, *signallers):
            process.kill()
        for name, ranks in jobs.items():
            summary, lines = self.machine.finish(name, ranks)
            said = said_by_library(lines)
            self.assertEqual(summary["losses_digest"], self.alone["losses_digest"], said)
            self.both(said, AWAITS)
            self.assertIn("the arbiter is lost", said)

    def test_a_driver_that_refuses_the_import(self):
        self.prepare()
        said, _ = self.finish(self.start(a={"SIMGPU_FAULT": "import_fails"}, b={}))
        line = "signals: expected memory that the driver imports, got the error of cuMemImportFromShareableHandle 801"
        self.both(said["a"], line)
        self.assertNotIn(AWAITS, said["a"])

    def test_a_driver_that_refuses_memory_operations_from_some_moment_on(self):
        self.prepare()
        said, _ = self.finish(self.start(a={"SIMGPU_FAULT": "memops_fail:60"}, b={}))
        self.both(said["a"], "host gates instead")
        self.both(said["a"], "expected a driver that takes operations on signals")


if __name__ == "__main__":
    unittest.main()

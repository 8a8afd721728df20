"""Tests faults beside jobs whose streams wait for signals in device memory: signallers that stand still, an arbiter
that is restarted, and an MPS server that fails or is gone."""

import os
import signal
import subprocess
import time
import unittest

from tests.process.sidecar.test_ipc import AWAITS, SIGNALLED, WithSignallers
from tests.process.sidecar.test_sidecar import BIN, said_by_library

_IPC = ("--transport", "ipc")
_LONG = 600  # iterations of jobs that outlast a fault


class IpcFaults(WithSignallers):

    def start_mps(self):
        """Starts a control daemon of MPS. Returns its directory, and a function that sends it a line."""
        pipe = self.machine.directory / "pipe"
        pipe.mkdir()
        control = BIN / "nvidia-cuda-mps-control"
        environment = {**self.machine.environment, "CUDA_MPS_PIPE_DIRECTORY": str(pipe)}
        daemon = subprocess.Popen([control, "-f"], env=environment, stdout=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        while not (pipe / "nvidia-cuda-mps-control.pid").exists():
            self.assertIsNone(daemon.poll())
            time.sleep(0.01)

        def ask(line):
            return subprocess.run([control], env=environment, input=f"{line}\n", capture_output=True, text=True,
                                  check=True).stdout

        return str(pipe), ask

    def test_signallers_that_are_stopped_and_go_on(self):
        signallers = self.prepare(iterations=_LONG)
        jobs = self.start(a={}, b={})
        self.arbiter_says(SIGNALLED)
        for signaller in signallers:
            signaller.send_signal(signal.SIGSTOP)
        self.arbiter_says("takes turns by gpu_gates now, not by signalled_gates")
        for signaller in signallers:
            signaller.send_signal(signal.SIGCONT)
        self.arbiter_says(SIGNALLED)
        self.finish(jobs)

    def test_the_arbiter_is_restarted(self):
        self.prepare(iterations=_LONG)
        jobs = self.start(a={}, b={})
        self.arbiter_says(SIGNALLED)
        self.machine.arbiter.kill()
        self.machine.arbiter.wait()
        self.machine.start_arbiter(self, _IPC)
        self.arbiter_says(SIGNALLED)
        said, _ = self.finish(jobs)
        for lines in said.values():
            self.assertIn("the arbiter is lost", lines)
            self.assertGreater(lines.count(AWAITS), 2, lines)

    def test_an_mps_server_in_fault(self):
        self.loses_its_clients(lambda ask, server: ask(f"simgpu_fault {server} hits"), "its GPU context is lost")

    def test_an_mps_server_that_is_gone(self):
        self.loses_its_clients(lambda ask, server: os.kill(int(server), signal.SIGKILL), "the MPS server has ended")

    def fails(self, ranks, words):
        """Waits until each rank says so, and ends the job, as a launcher does: the software GPU's NCCL waits for ranks
        whose contexts are lost."""
        for rank in ranks:
            self.assertTrue(any(words in line for line in rank.stderr), f"it has ended without: {words}")
        for rank in ranks:
            rank.kill()
            rank.communicate()

    def loses_its_clients(self, break_it, words):
        """Asserts that the jobs fail, as they would alone, that the signallers go on, and that the next jobs get
        signals of them."""
        signallers = self.prepare()
        pipe, ask = self.start_mps()
        under_mps = {"CUDA_MPS_PIPE_DIRECTORY": pipe}
        jobs = self.start(a=under_mps, b=under_mps)
        self.arbiter_says(SIGNALLED)
        break_it(ask, ask("get_server_list").strip())
        for ranks in jobs.values():
            self.fails(ranks, words)
        self.assertEqual([signaller.poll() for signaller in signallers], [None, None])
        for name, ranks in self.start(c=under_mps, d=under_mps).items():
            summary, lines = self.machine.finish(name, ranks)
            said = said_by_library(lines)
            self.assertEqual(summary["losses_digest"], self.alone["losses_digest"], said)
            self.both(said, AWAITS)


if __name__ == "__main__":
    unittest.main()

"""Tests faults beside jobs whose streams wait for signals in device memory: signallers that stand still, an arbiter
that is restarted, and an MPS server that fails or is gone."""

import os
import signal
import subprocess
import time
import unittest

from tests.process.sidecar.test_ipc import AWAITS, SIGNALLED, WithSignallers
from tests.process.sidecar.test_sidecar import BIN, await_event, said_by_library

_IPC = ("--transport", "ipc")
_ENDLESS = 100_000  # iterations of jobs that outlast each fault: the test ends them


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

    def prepare_endless(self):
        """Prepares jobs that run until end(). Others may be gone before the fault comes, on a busy machine."""
        signallers = self.prepare(iterations=1)
        self.options = (f"--iterations={_ENDLESS}",)
        return signallers

    def end(self, jobs):
        """Ends all jobs after 100 more turns. Asserts that each one computed what it computes alone. Returns
        {job: its lines}."""
        held = sum(event["event"] == "hold" for event in self.machine.events())
        await_event(self.machine, "hold", held + 100)
        said = {name: said_by_library(self.machine.end(ranks)) for name, ranks in jobs.items()}
        losses = {name: self.machine.losses(name) for name in jobs}
        longest = max(map(len, losses.values()))
        self.machine.finish("s", self.machine.start("s", library=None, options=(f"--iterations={longest + 1}",)))
        alone = self.machine.losses("s")
        for name, mine in losses.items():
            self.assertGreater(len(mine), 20, said[name])
            self.assertEqual(mine, alone[:len(mine)], said[name])
        return said

    def test_signallers_that_are_stopped_and_go_on(self):
        signallers = self.prepare_endless()
        jobs = self.start(a={}, b={})
        self.arbiter_says(SIGNALLED)
        for signaller in signallers:
            signaller.send_signal(signal.SIGSTOP)
        self.arbiter_says("takes turns by gpu_gates now, not by signalled_gates")
        for signaller in signallers:
            signaller.send_signal(signal.SIGCONT)
        self.arbiter_says(SIGNALLED)
        self.took_turns(self.end(jobs))

    def test_the_arbiter_is_restarted(self):
        self.prepare_endless()
        jobs = self.start(a={}, b={})
        self.arbiter_says(SIGNALLED)
        self.machine.arbiter.kill()
        self.machine.arbiter.wait()
        self.machine.start_arbiter(self, _IPC)
        self.arbiter_says(SIGNALLED)
        said = self.end(jobs)
        self.took_turns(said)
        for lines in said.values():
            self.assertIn("the arbiter is lost", lines)
            self.assertGreater(lines.count(AWAITS), 2, lines)

    def test_an_mps_server_in_fault(self):
        self.loses_its_clients(lambda ask, server: ask(f"simgpu_fault {server} hits"), "its GPU context is lost")

    def test_an_mps_server_that_is_gone(self):
        self.loses_its_clients(lambda ask, server: os.kill(int(server), signal.SIGKILL), "the MPS server has ended")

    def fails(self, ranks, words):
        """Waits until each rank says so or ends by an error of one of its own calls. Ends the job then, as a launcher
        does: the software GPU's NCCL waits for ranks whose contexts are lost."""
        for rank in ranks:
            lines = []
            for line in rank.stderr:
                lines.append(line)
                if words in line:
                    break
            else:
                self.assertNotEqual(rank.wait(), 0, f"it has ended without: {words}: {lines}")
        for rank in ranks:
            rank.kill()
            rank.communicate()

    def loses_its_clients(self, break_it, words):
        """Asserts that the jobs fail, as they would alone, that the signallers go on, and that the next jobs get
        signals of them."""
        signallers = self.prepare_endless()
        pipe, ask = self.start_mps()
        under_mps = {"CUDA_MPS_PIPE_DIRECTORY": pipe}
        jobs = self.start(a=under_mps, b=under_mps)
        self.arbiter_says(SIGNALLED)
        break_it(ask, ask("get_server_list").strip())
        for ranks in jobs.values():
            self.fails(ranks, words)
        self.assertEqual([signaller.poll() for signaller in signallers], [None, None])
        jobs = self.start(c=under_mps, d=under_mps)
        self.arbiter_says(SIGNALLED)
        for lines in self.end(jobs).values():
            self.both(lines, AWAITS)


if __name__ == "__main__":
    unittest.main()

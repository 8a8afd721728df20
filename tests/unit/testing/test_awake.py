"""Tests that idle cores are kept awake, and only then."""

import contextlib
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

from testing import awake


def runs(pid):
    """Tells whether a process runs: it is there, and is not only waited for."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def scheduling(pid):
    return os.sched_getscheduler(pid), os.sched_getaffinity(pid)


class Awake(unittest.TestCase):
    def test_a_virtual_machine_says_so(self):
        self.assertTrue(awake.virtual("processor: 0\nflags\t: fpu hypervisor lahf_lm\n"))
        self.assertFalse(awake.virtual("processor: 0\nflags\t: fpu nohypervisor lahf_lm\n"))
        self.assertFalse(awake.virtual("Features : fp asimd\n"))

    def test_the_kernel_is_asked_first(self):
        with mock.patch("testing.awake.virtual", return_value=True), mock.patch("builtins.open") as opened:
            with awake.awake():
                self.assertEqual(awake._spinning, [])
                with awake.awake():
                    pass
            opened.assert_called_once_with("/dev/cpu_dma_latency", "wb", buffering=0)

    def test_outside_of_a_block_nothing_is_kept_awake(self):
        with mock.patch("testing.awake.virtual", return_value=True):
            awake.insist()
        self.assertEqual(awake._spinning, [])

    def test_each_core_has_a_process_that_runs_where_no_other_wants_to(self):
        with mock.patch("testing.awake.virtual", return_value=True):
            with awake.awake():
                with awake.awake():
                    awake.insist()
                processes = list(awake._spinning)
                cores = os.sched_getaffinity(0)
                self.assertEqual(len(processes), len(cores))
                self.assertEqual([scheduling(process.pid) for process in processes],
                                 [(os.SCHED_IDLE, {core}) for core in cores])
                awake.insist()
                self.assertEqual(awake._spinning, processes, "there is no need of more")
            self.assertEqual(awake._spinning, [])
            self.assertEqual([process.returncode for process in processes], len(processes) * [-9])

    def test_where_cores_are_real_there_are_none(self):
        with mock.patch("testing.awake.virtual", return_value=False), awake.awake():
            awake.insist()
            self.assertEqual(awake._spinning, [])

    def test_they_end_when_their_parent_is_killed(self):
        program = ("import os, signal\nfrom testing import awake\nawake.virtual = lambda: True\n"
                   "with awake.awake():\n    awake.insist()\n"
                   "    print(*[process.pid for process in awake._spinning], flush=True)\n"
                   "    os.kill(os.getpid(), signal.SIGKILL)\n")
        done = subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).resolve().parents[3],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, -9, done.stderr)
        end = time.monotonic() + 60
        for pid in map(int, done.stdout.split()):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))  # the machine may be busy
            while runs(pid):  # until its next look at its parent
                self.assertLess(time.monotonic(), end, "it still runs")
                time.sleep(0.01)

    def test_what_they_use_is_known(self):
        with mock.patch("testing.awake.virtual", return_value=True), awake.awake():
            awake.insist()
            for process in awake._spinning:
                os.sched_setscheduler(process.pid, os.SCHED_OTHER, os.sched_param(0))
            used, end = awake.ticks(), time.monotonic() + 60
            while awake.ticks() < used + 10:
                self.assertLess(time.monotonic(), end, "they use nothing")
                time.sleep(0.01)
        self.assertEqual(awake.ticks(), 0)


if __name__ == "__main__":
    unittest.main()

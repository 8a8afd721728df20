"""Tests budgets of GPU memory: what processes get, are refused and are shown, against what the software GPU has
given."""

import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from testing import allocations

LIBRARY = os.environ.get("LIBRARY", "")
SIMGPU = os.environ.get("SIMGPU_LIBRARIES", "")
BIN = Path(os.environ.get("BIN", ""))
_GI = 1 << 30
# Runs a command where the folder of the daemon's socket is the one that is named first.
_IN_A_POD = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-ec",
             'mount -t tmpfs none /run; mkdir /run/crossover; mount --bind "$0" /run/crossover; exec "$@"')
# Allocates 1 MiB at a time until the driver refuses, and prints how often it did not.
_FILL = """
import ctypes, time
cuda, context, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0
end, given = time.monotonic() + 60, 0
while time.monotonic() < end and cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 20)) == 0:
    given += 1
    time.sleep(0.001)
print(given if time.monotonic() < end else "never refused")
"""


class Daemon:
    """Stands for a daemon that is asked for limits, and gives one answer after the other. None is no answer."""

    def __init__(self, directory, answers):
        self.path = str(directory / "arbiter.sock")
        self.asked = 0
        self._answers = answers
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.bind(self.path)
        self._socket.listen()
        self._ends = [self._socket]
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        """Ends all connections. What has asked once too often has no answer, and is not counted."""
        for end in self._ends:
            end.close()

    def _serve(self):
        for known, mib in self._answers:
            client, _ = self._socket.accept()
            self._ends.append(client)
            kind = struct.unpack("<4I", client.recv(16))[0]
            assert kind == 6, f"expected an ask, got message {kind}"
            self.asked += 1
            if known is not None:
                client.send(struct.pack("<6I", 7, 24, 1, 0, mib, known))


class Memory(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.machine = allocations.Machine(self.directory, SIMGPU)

    def churn(self, budget, library=LIBRARY, operations=20_000, largest_kib=1024):
        return self.machine.churn(BIN / "sidecar_allocator", library, budget, threads=4, operations=operations, seed=1,
                                  largest_kib=largest_kib)

    def test_books_of_many_threads_and_kinds_are_exact(self):
        done = self.churn("20Gi")
        self.assertEqual(done.total, 20 * _GI)
        self.assertGreater(done.truth, 10 << 20, "something is allocated")
        self.assertEqual(done.used, done.truth)
        self.assertEqual((done.used_at_end, done.truth_at_end), (0, 0))
        self.assertEqual((done.refused, done.stderr), (0, ""))

    def test_what_is_over_the_budget_is_refused_as_the_driver_refuses(self):
        done = self.churn("64Mi")
        self.assertGreater(done.refused, 100)
        self.assertLessEqual(done.truth, 64 << 20)
        self.assertEqual(done.used, done.truth)
        self.assertRegex(done.stderr, r"\Acrossover: \d+ bytes of GPU memory are refused: this process may have "
                                      r"67108864 bytes in all on each GPU \(CROSSOVER_GPU_MEMORY, or what "
                                      r"its pod may have\)\n\Z")

    def test_without_a_budget_the_whole_gpu_is_there(self):
        for library, budget in ((None, None), (LIBRARY, None)):
            done = self.churn(budget, library, operations=2000)
            self.assertEqual((done.total, done.refused, done.stderr), (80 * _GI, 0, ""))
            self.assertEqual(done.used, done.truth)

    def fill(self, answers):
        """Returns what a process in a pod gets that has lost its environment, beside a daemon, and its log."""
        if subprocess.run([*_IN_A_POD, "/tmp", "true"], check=False, capture_output=True).returncode:
            self.skipTest("no mount namespace can be made here")
        daemon = Daemon(self.directory, answers)
        self.addCleanup(daemon.close)
        clean = ["env", "-i", *(f"{name}={value}" for name, value in self.machine.environment.items()),
                 f"LD_PRELOAD={LIBRARY}"]
        done = subprocess.run([*_IN_A_POD, str(self.directory), *clean, sys.executable, "-c", _FILL], check=True,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(daemon.asked, len(answers))
        return done.stdout.strip(), done.stderr

    def test_a_process_without_its_environment_has_the_limit_of_its_pod(self):
        given, stderr = self.fill([(1, 64)])
        self.assertEqual(given, "64")
        self.assertIn("its pod may have 67108864 bytes on each GPU", stderr)

    def test_a_limit_that_is_not_known_yet_is_asked_for_again(self):
        for first in ((0, 0), (None, 0)):
            with self.subTest(first=first):
                given, stderr = self.fill([first, (1, 64)])
                self.assertGreaterEqual(int(given), 64)
                self.assertIn("its pod may have 67108864 bytes on each GPU", stderr)
                os.unlink(self.directory / "arbiter.sock")

    def test_a_limit_that_stays_unknown_is_told(self):
        _, stderr = self.fill([(0, 0)] * 6 + [(1, 64)])
        self.assertIn("the daemon at /run/crossover/arbiter.sock does not say how much GPU memory its pod may use: "
                      "no limit holds until the daemon says it", stderr)

    def test_management_libraries_show_the_budget(self):
        with self.machine.allocator(BIN / "sidecar_allocator", LIBRARY, "20Gi", 1, 2000, 1, 1024) as other:
            shown = self.machine.nvml(LD_PRELOAD=LIBRARY, CROSSOVER_GANG="a", CROSSOVER_GPU_MEMORY="20Gi")
            self.assertEqual(shown.total, 20 * _GI)
            self.assertEqual(shown.used, self.machine.nvml().used, "another process's: all that is used")
            self.assertEqual(shown.free, shown.total - shown.used)
            self.assertEqual(self.machine.nvml(LD_PRELOAD=LIBRARY, CROSSOVER_GANG="a").total, 80 * _GI)
            other.end()

    def test_a_malformed_budget_is_named(self):
        command = [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuMemAlloc_v2"]
        done = subprocess.run(command, check=True,
                              env={**self.machine.environment, "LD_PRELOAD": LIBRARY, "CROSSOVER_GANG": "a",
                                   "CROSSOVER_GPU_MEMORY": "20GB"}, capture_output=True, text=True)
        self.assertRegex(done.stderr,
                         r"\Acrossover: CROSSOVER_GPU_MEMORY: expected a whole number of bytes.*, got 20GB; .*\n\Z")


if __name__ == "__main__":
    unittest.main()

"""Tests budgets of GPU memory: what processes get, are refused and are shown, against what the software GPU has
given."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from benchmarks import allocations

LIBRARY = os.environ.get("LIBRARY", "")
SIMGPU = os.environ.get("SIMGPU_LIBRARIES", "")
BIN = Path(os.environ.get("BIN", ""))
_GI = 1 << 30


class Memory(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.machine = allocations.Machine(Path(directory.name), SIMGPU)

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
        self.assertRegex(done.stderr, r"\Acrossover: \d+ bytes of GPU memory refused: this job may have 67108864 on "
                                      r"each GPU \(CROSSOVER_GPU_MEMORY\)\n\Z")

    def test_without_a_budget_the_whole_gpu_is_there(self):
        for library, budget in ((None, None), (LIBRARY, None)):
            done = self.churn(budget, library, operations=2000)
            self.assertEqual((done.total, done.refused, done.stderr), (80 * _GI, 0, ""))
            self.assertEqual(done.used, done.truth)

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
        self.assertRegex(done.stderr, r"\Acrossover: CROSSOVER_GPU_MEMORY=20GB: bytes, or a number with .*\n\Z")


if __name__ == "__main__":
    unittest.main()

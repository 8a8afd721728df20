import unittest

from benchmarks import logs
from benchmarks.figures import eta_start, simgpu_error, so_symbols
from tests.unit.tools.samples import MS


class SoSymbols(unittest.TestCase):
    def test_old_libc_alone_is_fine(self):
        symbols = "  12: 0000 0 FUNC GLOBAL DEFAULT UND dlsym@GLIBC_2.2.5 (2)\n 13: memcpy@GLIBC_2.14\n"
        dynamic = " 0x01 (NEEDED)  Shared library: [libpthread.so.0]\n 0x01 (NEEDED)  Shared library: [libc.so.6]\n"
        self.assertEqual(so_symbols.faults(symbols, dynamic), [])

    def test_new_symbols_and_foreign_libraries_are_named(self):
        symbols = "dlsym@GLIBC_2.34 (2)\n _ZNSt@GLIBCXX_3.4.21\n fstat@@GLIBC_2.33\n"
        dynamic = " (NEEDED)  Shared library: [libstdc++.so.6]\n"
        self.assertEqual(so_symbols.faults(symbols, dynamic),
                         ["GLIBCXX_3.4.21", "GLIBC_2.33", "GLIBC_2.34", "libstdc++.so.6"])


class SimgpuError(unittest.TestCase):
    def test_fifty_microseconds_are_forgiven(self):
        self.assertEqual(simgpu_error.kernel_error(1000, 1049), 0)

    def test_five_percent_of_a_long_kernel_are_not(self):
        self.assertAlmostEqual(simgpu_error.kernel_error(5000, 5250), 0.05)


class EtaStart(unittest.TestCase):
    def job(self, name, offset_ms, step_ms):
        """100 iterations of 20 ms compute; a pause of a second before the 30th."""
        iterations = tuple(logs.Iteration(k, int((offset_ms + k * step_ms + (1000 if k >= 30 else 0)) * MS),
                                          int((offset_ms + (k + 1) * step_ms + (1000 if k >= 30 else 0)) * MS),
                                          20 * MS, "") for k in range(100))
        return logs.JobLog(name, tuple(logs.RankLog(r, iterations, {}) for r in range(4)))

    def test_a_start_at_the_yardstick_rates_one(self):
        jobs = [self.job("alpha", 0, 40), self.job("beta", 20, 40)]
        self.assertAlmostEqual(eta_start.eta_of_start(jobs, 1500 * MS, 12.0), 1.0)

    def test_a_slow_start_rates_less(self):
        jobs = [self.job("alpha", 0, 50), self.job("beta", 20, 50)]
        self.assertAlmostEqual(eta_start.eta_of_start(jobs, 1500 * MS, 12.0), 0.8)


if __name__ == "__main__":
    unittest.main()

import unittest

from benchmarks.overhead import so_symbols
from benchmarks.quality import simgpu_error
from benchmarks.turns import eta_start, gain_error, jitter
from testing import logs
from tests.unit.testing.samples import MS


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
    def job(self, step_ms):
        """Returns a job whose first twenty iterations take twice as long."""
        ends, now = [], 0
        for k in range(70):
            now += step_ms * (2 if k < 20 else 1)
            ends.append(logs.Iteration(k, 0, now * MS, 20 * MS, ""))
        return logs.JobLog("alpha", (logs.RankLog(0, tuple(ends), {}),))

    def test_only_iterations_20_to_60_count(self):
        self.assertAlmostEqual(eta_start.measured_ms([self.job(40), self.job(44)]), 42)


class GainError(unittest.TestCase):
    @staticmethod
    def report(reported, uncertain=False, control=2.0):
        return {"true": 1.6, "reported": reported, "uncertain": uncertain, "control": control}

    def test_what_is_marked_counts_as_marked_and_not_as_wrong(self):
        found = [self.report(1.6), self.report(1.632), self.report(3.2, uncertain=True), self.report(1.68)]
        median, worst, marked = gain_error.summed_up("gain_error", "tail_5", found, "")
        self.assertAlmostEqual(median.value, 0.02)
        self.assertAlmostEqual(worst.value, 0.05)
        self.assertEqual(marked.value, 0.25)
        self.assertEqual([line.ok for line in (median, worst, marked)], [True, True, False])
        self.assertAlmostEqual(worst.control.value, 0.25)

    def test_a_control_that_is_right_proves_nothing(self):
        found = [self.report(1.6, control=1.61)]
        self.assertFalse(list(gain_error.summed_up("gain_error", "tail_5", found, ""))[1].ok)

    def test_without_jitter_none_may_be_marked(self):
        found = [self.report(1.6) for _ in range(20)] + [self.report(1.6, uncertain=True)]
        self.assertFalse(list(gain_error.summed_up("gain_error", "jitter_0", found, ""))[2].ok)
        self.assertTrue(list(gain_error.summed_up("gain_error", "jitter_5", found, ""))[2].ok)

    def test_a_run_that_is_missing_leaves_nothing(self):
        lines = list(gain_error.summed_up("gain_error", "tail_5", [self.report(1.6), None], ""))
        self.assertEqual([line.value for line in lines], [None])


class Jitter(unittest.TestCase):
    def test_draws_are_the_trainers(self):
        # These are recorded from the trainer: deviation 0.05, seed 7, ranks 0 and 1, three iterations each.
        recorded = [1.021173671074, 1.017222181483, 1.029591283903, 0.968988857056, 1.052989390704, 1.050351326878]
        drawn = [jitter.factor(0.05, 7, rank, k) for rank in (0, 1) for k in range(3)]
        for expected, found in zip(recorded, drawn):
            self.assertAlmostEqual(expected, found, places=9)

    def test_stragglers_are_longer_and_the_others_as_without(self):
        plain = [jitter.factor(0.05, 7, 1, k) for k in range(2000)]
        tailed = [jitter.factor(0.05, 7, 1, k, tail=0.1) / one for k, one in enumerate(plain)]
        longer = [one for one in tailed if one > 1]
        self.assertAlmostEqual(len(longer) / len(tailed), 0.1, delta=0.03)
        self.assertTrue(all(1 <= one <= 3 for one in tailed))


if __name__ == "__main__":
    unittest.main()

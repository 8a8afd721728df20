import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from benchmarks.overhead import solo_overhead
from benchmarks.runner.context import Context


class SoloOverhead(unittest.TestCase):
    """Tests machines that become slower from run to run, and a library that costs a share of each step."""

    def overhead(self, costs, drift_ms=0.0, void_at=None):
        runs = []

        def alone(_context, _shape, library):
            runs.append(library)
            if len(runs) == void_at:
                return None
            step_ns = (10 + drift_ms * len(runs)) * (1 + (costs if library else 0)) * 1e6
            iteration = SimpleNamespace(begin_ns=0, end_ns=step_ns)
            return SimpleNamespace(ranks=[SimpleNamespace(iterations=(iteration,) * 100)])

        library = Path(__file__)  # any file that exists
        with mock.patch.object(solo_overhead, "_alone", alone):
            found = solo_overhead._overhead(Context(None), solo_overhead._LAUNCH_BOUND, library)
        return found, [run is not None for run in runs]

    def test_a_drift_counts_for_neither(self):
        found, order = self.overhead(0.02, drift_ms=0.5)
        self.assertEqual(order, [False, True, True, False])
        self.assertAlmostEqual(found, 0.02, places=9)

    def test_a_sample_with_a_void_run_is_none(self):
        for number in range(1, 5):
            self.assertIsNone(self.overhead(0, void_at=number)[0])

    def test_a_library_that_is_not_built_is_named(self):
        context = Context(None, say=lambda text: None)
        missing = Path("/nonexistent/libcrossover_x.so")
        self.assertIsNone(solo_overhead._overhead(context, solo_overhead._SHAPE, missing))
        self.assertEqual(context.failures, [{"why": "libcrossover_x.so is not built"}])


if __name__ == "__main__":
    unittest.main()

import dataclasses
import io
import unittest
from unittest import mock

from testing import evaluate, logs, validity
from tests.unit.testing import samples


class Logs(unittest.TestCase):
    def test_rank_log(self):
        log = logs.parse_rank_log(samples.rank_lines(3))
        self.assertEqual((log.rank, len(log.iterations), log.summary["losses_digest"]), (3, 10, "ab12"))

    def test_a_torn_last_line_is_dropped(self):
        lines = samples.rank_lines(0)
        log = logs.parse_rank_log(lines[:4] + [lines[4][:25]])
        self.assertEqual(len(log.iterations), 4)
        self.assertFalse(logs.JobLog("alpha", (log,)).complete)

    def test_step_and_compute(self):
        job = samples.job("alpha")
        self.assertAlmostEqual(job.step_ms(2), 40)
        self.assertAlmostEqual(job.compute_ms(), 20)

    def test_cycle_counts_shares_of_iterations_at_the_edges(self):
        job = samples.job("alpha")
        self.assertAlmostEqual(job.cycle_ms_within(50 * samples.MS, 170 * samples.MS), 40)

    def test_window_needs_both_jobs_past_warm_up(self):
        early, late = samples.job("alpha"), samples.job("beta", start_ns=120 * samples.MS)
        self.assertEqual(logs.shared_window([early, late], 2), (200 * samples.MS, 400 * samples.MS))
        with self.assertRaisesRegex(ValueError, "never ran together"):
            logs.shared_window([early, samples.job("beta", start_ns=10 ** 9)], 2)

    def test_trace_is_sorted_and_foreign_lines_are_skipped(self):
        events = logs.parse_trace(["", "not json", "[1]", *samples.trace_lines()])
        self.assertEqual([e.t_ns for e in events], sorted(e.t_ns for e in events))
        self.assertEqual(events[0].gang, "alpha")


class Holders(unittest.TestCase):
    @staticmethod
    def count(*events):
        """Counts in a trace of (ms, slot, event) on one GPU. An event may also name a mode."""
        return logs.two_holders([logs.TraceEvent(round(ms * samples.MS), "GPU-1", slot, "", *event.split())
                                 for ms, slot, event in events])

    def test_turns_that_follow_each_other_have_one_holder(self):
        self.assertEqual(self.count((0, 1, "hold"), (20, 1, "release"), (20, 2, "hold"), (40, 2, "release")), 0)
        self.assertEqual(self.count((0, 1, "hold"), (19, 2, "hold"), (20, 1, "release"), (40, 2, "release")), 0,
                         "the arbiter saw the release late")

    def test_two_holders_are_counted(self):
        self.assertEqual(self.count((0, 1, "hold"), (10, 2, "hold"), (20, 1, "release"), (40, 2, "release")), 1)
        self.assertEqual(self.count((0, 1, "hold"), (10, 2, "hold"), (20, 2, "leave"), (40, 1, "release")), 1)

    def test_those_let_in_by_the_watchdog_or_without_turns_do_not_count(self):
        self.assertEqual(self.count((0, 1, "hold"), (5, 1, "open"), (10, 2, "hold"), (20, 2, "release")), 0)
        self.assertEqual(self.count((0, 1, "hold"), (5, 1, "mode observe"), (10, 2, "hold"), (20, 2, "release")), 0)
        self.assertEqual(self.count((0, 1, "hold"), (5, 1, "mode gate"), (10, 2, "hold"), (20, 2, "release")), 1)

    def test_another_gpu_is_another_turn(self):
        trace = [logs.TraceEvent(round(ms * samples.MS), gpu, slot, "", event)
                 for ms, gpu, slot, event in ((0, "a", 1, "hold"), (5, "b", 2, "hold"), (20, "a", 1, "release"))]
        self.assertEqual(logs.two_holders(trace), 0)

    def test_openings_are_counted(self):
        self.assertEqual(logs.openings([logs.TraceEvent(0, "a", 1, "", event) for event in ("hold", "open", "open")]),
                         2)


class Evaluate(unittest.TestCase):
    def test_two_jobs_at_their_bound(self):
        solos = [evaluate.Solo(32, 20)] * 2
        jobs = [samples.job("alpha"), samples.job("beta")]
        shared = evaluate.shared_of(jobs, solos, 40, 2, [j.digest for j in jobs])
        self.assertAlmostEqual(shared.gain, 1.6)
        self.assertAlmostEqual(shared.eta, 1.0)
        self.assertTrue(shared.losses_identical)

    def test_a_changed_loss_is_seen(self):
        jobs = [samples.job("alpha"), samples.job("beta", digest="ffff")]
        shared = evaluate.shared_of(jobs, [evaluate.Solo(32, 20)] * 2, 40, 2, [jobs[0].digest] * 2)
        self.assertFalse(shared.losses_identical)


class Validity(unittest.TestCase):
    def test_proc_stat(self):
        self.assertEqual(validity.parse_proc_stat("cpu  10 0 5 80 5 0 0 7 0 0\ncpu0 1\n"), (15, 7, 107))

    def test_what_keeps_cores_awake_counts_as_idle(self):
        text = iter(["cpu  10 0 5 80 5 0 0 0 0 0\n", "cpu  70 0 5 110 5 0 0 10 0 0\n"])
        ticks = iter([5, 55])  # 50 of 60 that were used in between
        with mock.patch("testing.awake.ticks", lambda: next(ticks)), \
                mock.patch("builtins.open", lambda *_, **__: io.StringIO(next(text))):
            meter = validity.CpuMeter()
            self.assertAlmostEqual(meter.idle(), 0.8)

    def test_busy_machine_voids(self):
        self.assertIn("61%", validity.load_of(0.61, 0.0, []).void)
        self.assertEqual(validity.load_of(0.59, 0.0, []).void, "")

    def test_late_kernels_void(self):
        report = {"kernel_late_us": {"p50": 60, "p99": 301, "count": 9}}
        self.assertIn("kernels 301 us", validity.load_of(0.1, 0.0, [report]).void)

    def test_a_run_may_have_limits_of_its_own(self):
        load = validity.load_of(0.1, 0.03, [{"kernel_late_us": {"p50": 60, "p99": 301, "count": 9}}])
        wide = validity.Limits(late_us=1000.0, stolen=0.05)
        self.assertEqual(dataclasses.replace(load, limits=wide).void, "")
        self.assertEqual(dataclasses.replace(load, limits=dataclasses.replace(wide, stolen=0.02)).void,
                         "3.0% of all cores stolen by the hypervisor, limit 2.0%")


if __name__ == "__main__":
    unittest.main()

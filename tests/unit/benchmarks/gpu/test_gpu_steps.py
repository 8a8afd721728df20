import json
import tempfile
import unittest
from pathlib import Path

from benchmarks.gpu import steps

_MS = 1_000_000


def report(period_ms, count, begin_ms=0):
    ends = [int((begin_ms + period_ms * (i + 1)) * _MS) for i in range(count)]
    return {"began_ns": int(begin_ms * _MS), "ends_ns": ends}


def noted(iterations, begin_ms=100):
    """Returns the log of a job with 10 ms of compute and two equal buckets, at 4 and 9 ms. The job waits for the last
    bucket, which takes 2 ms.
    """
    lines = [json.dumps({"call": "AllReduce", "type": "float32", "count": 8, "begin_ns": 1, "end_ns": 2})]  # set-up
    for i in range(iterations):
        start = begin_ms + 12 * i
        for at, took in ((4, 1), (9, 2)):
            lines.append(json.dumps({"call": "AllReduce", "type": "float32", "count": 64,
                                     "begin_ns": (start + at) * _MS, "end_ns": (start + at + took) * _MS}))
    return lines


class Steps(unittest.TestCase):

    def test_a_step_is_a_mean_with_its_stalls(self):
        stalled = report(10, 100)
        stalled["ends_ns"] = [end + (100 * _MS if i > 80 else 0) for i, end in enumerate(stalled["ends_ns"])]
        self.assertAlmostEqual(steps.step_s(report(10, 100)), 0.010)
        self.assertAlmostEqual(steps.step_s(stalled), 0.010 + 0.100 / 59)

    def test_too_few_steps_tell_nothing(self):
        with self.assertRaisesRegex(ValueError, "6 steps: too few"):
            steps.step_s(report(10, 6))

    def test_alternating_jobs(self):
        both = [report(20, 100), report(20, 100, 5)]
        self.assertAlmostEqual(steps.cycle_s(both), 0.020)
        self.assertAlmostEqual(steps.speed_up([0.016, 0.016], both), 1.6)

    def test_only_the_time_in_which_both_run_counts(self):
        late = [report(10, 400), report(20, 40, 2000)]
        self.assertAlmostEqual(steps.speed_up([0.010, 0.010], late), 1.5, places=2)

    def test_profile(self):
        profile = steps.profile_of(noted(40), report(12, 40, 100))
        self.assertEqual(profile.stretches, (("AllReduce", 64, 5 * _MS), ("AllReduce", 64, 5 * _MS)))
        self.assertEqual(profile.moved_bytes, 2 * 64 * 4)
        self.assertEqual(profile.text(16), "AllReduce 4 5000000\nAllReduce 4 5000000\n")

    def test_collectives_that_are_not_as_many_in_each_step(self):
        with self.assertRaisesRegex(ValueError, "79 collectives in 40 steps"):
            steps.profile_of(noted(40)[:-1], report(12, 40, 100))

    def test_turns_of_a_job_are_those_that_it_held(self):
        trace = Path(self.enterContext(tempfile.TemporaryDirectory())) / "trace.jsonl"
        self.assertEqual(steps.turns_of(trace, "job1"), 0, "no arbiter runs")
        trace.write_text("".join(f"{line}\n" for line in (
            '{"t_ns":1,"gang":"job0","event":"hold"}', '{"t_ns":2,"gang":"job1","event":"hold"}',
            '{"t_ns":3,"gang":"job1","event":"release"}', '{"dropped":2}',
            '{"t_ns":4,"gang":"job1","event":"hold"}')), encoding="utf-8")
        self.assertEqual(steps.turns_of(trace, "job1"), 2)

    def test_bound(self):
        # The jobs compute for 2 x 10 ms, and collectives hold 4 of 132 SMs while 2 x 6 ms are exposed.
        self.assertAlmostEqual(steps.bound_s([0.016, 0.016], [0.010, 0.010], [0.004, 0.004], 4, 132),
                               0.020 + 4 / 132 * 0.012)


if __name__ == "__main__":
    unittest.main()

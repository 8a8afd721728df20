"""Tests from when on a run counts."""

import unittest

from testing import logs, pairs, session, validity
from tests.unit.testing.samples import MS

_QUIET = validity.Load(0.1, 0.0, 10, 20, 10, 20)


def job(name, steps_ms):
    iterations, now = [], 0
    for index, step in enumerate(steps_ms):
        iterations.append(logs.Iteration(index, now * MS, (now + step) * MS, 10 * MS, ""))
        now += step
    return logs.JobLog(name, (logs.RankLog(0, tuple(iterations), {}),))


def run(*turns):
    """Returns two jobs that run freely for five iterations of 80 ms and by turns for ten of 40. `turns` are (ms,
    gang).
    """
    jobs = {name: job(name, [80] * 5 + [40] * 10) for name in ("alpha", "beta")}
    trace = tuple(logs.TraceEvent(ms * MS, "GPU-0", 0, gang, "hold") for ms, gang in turns)
    return session.Result(jobs, {}, (), trace, _QUIET, "", True, "", 1.0)


class Window(unittest.TestCase):
    shape = pairs.Shape(0.6)
    both = run((400, "alpha"), (420, "beta"), (440, "alpha"), (500, "stranger"))

    def test_it_begins_with_the_first_turn_of_the_last_and_goes_to_the_end(self):
        self.assertEqual(pairs.window(self.shape, self.both), (420 * MS, 800 * MS))
        shared = pairs.rate(self.shape, self.both, pairs.evaluate.Solo(32, 20), 40)
        self.assertAlmostEqual(shared.eta, 1.0)

    def test_the_whole_run_has_what_is_learnt_from_inside(self):
        shared = pairs.rate(self.shape, self.both, pairs.evaluate.Solo(32, 20), 40, whole=True)
        self.assertAlmostEqual(shared.eta, 40 * 15 / 800)

    def test_without_turns_all_of_it_counts(self):
        self.assertEqual(pairs.window(self.shape, run()), (0, 800 * MS))

    def test_a_fixed_beginning(self):
        self.assertEqual(pairs.window(pairs.Shape(0.6, counted_from=2), self.both), (160 * MS, 800 * MS))


if __name__ == "__main__":
    unittest.main()

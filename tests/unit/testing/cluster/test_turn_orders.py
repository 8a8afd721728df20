import unittest

from testing.logs import TraceEvent
from tests.cluster.turns import turn_orders

_JOBS, _GPUS = {"alpha", "beta"}, ["GPU-0"]


def _trace(rows):
    return [TraceEvent(at, "GPU-0", "ab".index(gang[0]), gang, event) for at, gang, event in rows]


def _turns(count, *, away):
    """Returns turns of 20, one after the other. After its turn each job asks again when it has been `away`."""
    rows = [(0, "alpha", "arrive"), (0, "beta", "arrive")]
    for number in range(count):
        gang = "alpha" if number % 2 == 0 else "beta"
        rows += [(20 * number, gang, "hold"), (20 * number + 20, gang, "release"),
                 (20 * number + 20 + away, gang, "arrive")]
    return _trace(sorted(rows, key=lambda row: row[0]))


class TurnOrders(unittest.TestCase):
    def test_turns_that_hide_the_others_absence(self):
        trace = _turns(80, away=12)
        self.assertTrue(turn_orders.alternate(trace, _JOBS, _GPUS))
        self.assertTrue(turn_orders.hide(trace, _JOBS, _GPUS))

    def test_turns_that_last_until_the_next_one_is_asked_for_hide_nothing(self):
        trace = _turns(80, away=0)
        self.assertTrue(turn_orders.alternate(trace, _JOBS, _GPUS))
        self.assertFalse(turn_orders.hide(trace, _JOBS, _GPUS))

    def test_one_after_the_other_is_neither(self):
        rows = [(at + 10 * kind, gang, event) for start, gang in ((0, "alpha"), (10_000, "beta"))
                for at in range(start, start + 8_000, 100) for kind, event in enumerate(("arrive", "hold", "release"))]
        trace = _trace(rows)
        self.assertFalse(turn_orders.alternate(trace, _JOBS, _GPUS))
        self.assertFalse(turn_orders.alternate(trace, {"alpha"}, _GPUS))
        self.assertFalse(turn_orders.hide(trace, {"alpha"}, _GPUS))

    def test_a_few_turns_show_nothing(self):
        trace = _turns(40, away=12)
        self.assertFalse(turn_orders.alternate(trace, _JOBS, _GPUS))
        self.assertFalse(turn_orders.hide(trace, _JOBS, _GPUS))

    def test_each_gpu_counts(self):
        self.assertFalse(turn_orders.alternate(_turns(80, away=12), _JOBS, ["GPU-0", "GPU-1"]))


if __name__ == "__main__":
    unittest.main()

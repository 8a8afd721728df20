import unittest
from unittest import mock

from benchmarks import run
from benchmarks.pairs import Context
from benchmarks.results import Goal, Measured


class Figure:
    """Void until its last value."""

    def __init__(self, *values):
        self.values = list(values)

    def measure(self, _context, case):
        yield Measured("eta", case, self.values.pop(0), "1", Goal(">=", 0.97), ())


class Patience(unittest.TestCase):
    def take(self, figure, patience_s):
        with mock.patch("benchmarks.validity.wait_until_quiet") as waited:
            lines = run.take(Context(None, lambda text: None), "eta", figure, "plain", patience_s)
        return [line.value for line in lines], waited.call_count

    def test_a_void_case_is_taken_again(self):
        self.assertEqual(self.take(Figure(None, None, 0.98), 600), ([0.98], 3))

    def test_without_patience_the_first_try_is_the_last(self):
        self.assertEqual(self.take(Figure(None, 0.98), 0)[0], [None])

    def test_a_case_that_missed_its_goal_is_not_taken_again(self):
        self.assertEqual(self.take(Figure(0.5, 0.98), 600)[0], [0.5])


if __name__ == "__main__":
    unittest.main()

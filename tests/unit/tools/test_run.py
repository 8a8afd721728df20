import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from benchmarks import run
from benchmarks.figures import chain
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


class LeftOut(unittest.TestCase):
    """A case that is seldom installed is said to be left out, and measured all the same when it is asked for."""

    def measured(self, *cases):
        class Seldom:
            CASES = ("usual", "seldom")

            @staticmethod
            def left_out(case):
                return "not installed" if case == "seldom" else ""

        options = mock.Mock(build=Path("/nonexistent"), out=None, runs=1, no_namespaces=False, keep_logs=None,
                            patience=0)
        took = []

        def take(_context, _name, _figure, case, _patience):
            took.append(case)
            return []
        with mock.patch.object(run, "take", take), contextlib.redirect_stdout(io.StringIO()) as said:
            run.measure(options, [("chain", Seldom)], list(cases))
        return took, said.getvalue()

    def test_unless_it_is_asked_for(self):
        took, said = self.measured()
        self.assertEqual(took, ["usual"])
        self.assertIn("chain seldom: left out, but for --cases seldom: not installed", said)
        self.assertEqual(self.measured("seldom")[0], ["seldom"])

    def test_chain_without_any_program(self):
        with tempfile.TemporaryDirectory() as empty, mock.patch.dict("os.environ", {"CROSSOVER_CACHE": empty}):
            self.assertIn("kube-1.31.0/kubelet", chain.left_out("kube_1.31"))


if __name__ == "__main__":
    unittest.main()

import contextlib
import io
import json
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from unittest import mock

from benchmarks import run
from benchmarks.cluster import chain
from benchmarks.runner.context import Context
from benchmarks.runner.results import Goal, Measured
from testing import logs, pairs, session, validity
from testing.processes import Failed


def load(void=False):
    return validity.Load(0.1, 0.0, 10, 301 if void else 20, 10, 20)


def result(void=False):
    iterations = tuple(logs.Iteration(k, k * 40_000_000, (k + 1) * 40_000_000, 20_000_000, "") for k in range(10))
    log = logs.JobLog("alpha", (logs.RankLog(0, iterations, {}),))
    return session.Result({"alpha": log}, {}, (), (), load(void), "none", False, "", 1.0)


class Retaking(unittest.TestCase):
    """A void run is made again, and stays in the line. A run that crashed is not made again, and the line fails."""

    shape = pairs.Shape(0.6)

    def context(self, outcomes, quiet_until=0.0):
        """Returns a context whose runs come out as `outcomes` says. A text is the message of a run that fails."""
        self.runs = []

        def run(_build, plan, _mark, _keep):
            self.runs.append(plan)
            outcome = outcomes.pop(0)
            if isinstance(outcome, str):
                raise Failed(outcome)
            return result(void=not outcome)

        for target, stand_in in (("testing.session.run", run),
                                 ("testing.validity.wait_until_quiet", lambda *_: None)):
            patch = mock.patch(target, stand_in)
            patch.start()
            self.addCleanup(patch.stop)
        build = mock.Mock(library=Path(__file__))
        build.known_bad = lambda name: Path(__file__).with_name(f"libcrossover_{name}.so")
        return Context(build, lambda text: None, quiet_until=quiet_until)

    def plan(self, library=None):
        return session.Plan(self.shape.machine(), (self.shape.job("alpha", 1),), library)

    def test_a_void_run_is_published_with_its_configuration_and_value(self):
        context = self.context([False, True])
        self.assertIsNotNone(context.session(self.plan()))
        published, remarks = context.take_notes()
        (void,) = published["voids"]
        self.assertEqual((void["run"], void["library"], void["cycle_ms"]), ("alone", None, {"alpha": 40.0}))
        self.assertIn("kernels 301 us late", void["why"])
        self.assertIn("mps, links shared, co-run 1", void["machine"])
        self.assertEqual(len(remarks["loads"]), 1)
        self.assertEqual(context.take_notes(), ({}, {}))

    def test_patience_makes_one_run_again_and_keeps_the_others(self):
        outcomes = [True, *[False] * 6, True]
        context = self.context(outcomes, quiet_until=float("inf"))
        value, samples = pairs.measured_by(context, Goal(">=", 0.9, "median"),
                                           lambda: 1.0 if context.session(self.plan()) else None, runs=2)
        self.assertEqual((value, samples, outcomes), (1.0, (1.0, 1.0), []))

    def test_void_to_the_end_keeps_what_was_measured(self):
        context = self.context([True, *[False] * 4])
        value, samples = pairs.measured_by(context, Goal(">=", 0.9, "median"),
                                           lambda: 1.0 if context.session(self.plan()) else None, runs=3)
        self.assertEqual((value, samples), (None, (1.0, None)))
        self.assertEqual(len(context.take_notes()[0]["voids"]), 4)

    def test_a_crash_is_never_made_again(self):
        outcomes = ["rank 1 ended with -11", True]
        context = self.context(outcomes, quiet_until=float("inf"))
        self.assertIsNone(context.session(self.plan()))
        self.assertEqual(outcomes, [True])
        published, _ = context.take_notes()
        self.assertEqual(published["failures"][0]["why"], "rank 1 ended with -11")
        self.assertNotIn("voids", published)

    def test_a_failure_makes_the_line_not_ok(self):
        with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(io.StringIO()):
            options = mock.Mock(out=Path(out), runs=1)
            measured = Measured("hook_ns", "launch", 1.0, "ns", Goal("<=", 3), (1.0,), None, "words")
            build = mock.Mock(top=Path("/x/build/bench"))
            good = [run.record(options, build, None, "hook_ns", "launch", [measured], published, {})
                    for published in ({}, {"failures": [{"why": "it hung"}]})]
            lines = [json.loads(line) for line in (Path(out) / "hook_ns.jsonl").read_text().splitlines()]
        self.assertEqual(good, [True, False])
        self.assertEqual([line["ok"] for line in lines], [True, False])
        self.assertEqual(lines[1]["failures"], [{"why": "it hung"}])

    def test_a_figure_that_fails_says_so(self):
        class Hangs:
            @staticmethod
            def measure(_context, _case):
                raise Failed("job alpha: still running after 60 s")
                yield  # noqa: a generator

        lines, published, _ = run.take(self.context([]), "eta", Hangs, "plain_1", 0)
        self.assertEqual([line.value for line in lines], [None])
        self.assertEqual(published["failures"], [{"why": "job alpha: still running after 60 s"}])

    def test_a_control_differs_from_what_ships_in_its_library_alone(self):
        context = self.context([True] * 3)
        control = context.controlled(Goal(">=", 0.9), "late", "late_by",
                                     lambda library: 1.0 if context.session(self.plan(library)) else None)
        self.assertEqual(control.shipped, 1.0)
        context.session(self.plan(context.build.library))
        shipped, bad, after = self.runs
        self.assertEqual((shipped.daemon_settings, bad.daemon_settings), (("guard: off",),) * 2)
        self.assertEqual(replace(bad, library=shipped.library), shipped)
        self.assertEqual(after.daemon_settings, ())


class LeftOut(unittest.TestCase):
    """A case that is seldom installed is said to be left out. It is measured all the same when it is asked for."""

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
            return [], {}, {}
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

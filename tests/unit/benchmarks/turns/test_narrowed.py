import unittest
from types import SimpleNamespace
from unittest import mock

from benchmarks.runner.context import Context
from benchmarks.turns import narrowed, narrowed_jobs, shrink_gain
from benchmarks.turns.narrowed import Narrowing
from testing.evaluate import Solo
from testing.pairs import Shape


class Ratio(unittest.TestCase):
    def test_bf16_halves_and_q8_has_the_bytes_of_its_formula(self):
        self.assertEqual(narrowed.ratio("bf16", 65_536, 2, 1), 2)
        for nodes in (2, 4):  # 8 bits and 8 bytes for each 512
            self.assertAlmostEqual(narrowed.ratio("q8", 512 * 128, nodes, 1), 32 / (8 + 64 / 512))

    def test_a_ring_over_several_ranks_of_a_node_sends_more_than_the_hierarchy(self):
        # A ring of 4 ranks sends 1.5 of the buffer over a node's link, and two shards of halves send one.
        self.assertAlmostEqual(narrowed.ratio("q8", 512 * 128, 2, 2), 1.5 * 32 / (8 + 64 / 512))


class Cycle(unittest.TestCase):
    def cycle(self, exposed_ms, ratio, jobs=2, links="private", codec_ms=0.0, kernels_ms=0.0, ctas=0):
        solo = Solo(10.0 + exposed_ms, 10.0)
        return narrowed.cycle_ms(solo, jobs, Narrowing(ratio, codec_ms, kernels_ms), links, ctas)

    def test_each_term_binds_once(self):
        self.assertAlmostEqual(self.cycle(15, 2), 20)  # two computes
        self.assertAlmostEqual(self.cycle(60, 2), 40)  # compute and what is left of the wait
        self.assertAlmostEqual(self.cycle(60, 2, links="shared"), 60)  # what two jobs send over one link
        self.assertAlmostEqual(self.cycle(60, 2, jobs=1), 40)
        self.assertAlmostEqual(self.cycle(15, 2, ctas=66), 20 + 0.5 * 15)  # collectives on half of the GPU

    def test_the_codec_costs_both_and_its_messages_one(self):
        self.assertAlmostEqual(self.cycle(15, 2, codec_ms=1, kernels_ms=1), 22)
        self.assertAlmostEqual(self.cycle(15, 2, codec_ms=1), 20)
        self.assertAlmostEqual(self.cycle(60, 2, codec_ms=1), 41)

    def test_no_narrowing_is_that_of_the_job_as_it_is(self):
        solo = Solo(40.0, 10.0)
        self.assertAlmostEqual(narrowed.cycle_ms(solo, 2, narrowed.NONE, "private", 0), 40)
        self.assertAlmostEqual(narrowed.cycle_ms(solo, 2, narrowed.NONE, "shared", 0), 60)

    def test_without_narrowing_it_is_the_bound_of_turns(self):
        self.assertAlmostEqual(self.cycle(6, 1), 20)
        self.assertAlmostEqual(self.cycle(15, 1), 25)


class Played(unittest.TestCase):
    """Plays jobs whose cycle is that of the model, times a factor."""

    def lines(self, case, factors=None, says="", narrows=True, chooses=None, void=()):
        """Returns (the lines of a case by figure and level, failures, what ran: way and choice). `factors` are those of
        ways; `void` has ways whose runs over slow links are void. `chooses` returns the choice of a rule; by default it
        is that of the model."""
        asked = []

        def run(shape, environment):
            way = environment["CROSSOVER_SHRINK"]
            level = narrowed_jobs.level_of(environment.get("CROSSOVER_SHRINK_CHOICE", way))
            asked.append((way, environment.get("CROSSOVER_SHRINK_CHOICE")))
            if way in void and shape.ratio > 0.01:  # not over the fast links
                return None
            c_ms, m_ms, kernels_ms = shape.compute_ms, shape.ratio * shape.compute_ms, 0.06 if level else 0.0
            nodes = shape.used_nodes()
            per_node = shape.ranks // nodes
            flat = environment["NCCL_HOSTID"] == "rank{rank}"
            seats = (shape.ranks, 1) if flat else (nodes, per_node)
            ratio = narrowed.ratio(level, shape.gradient_bytes // 4, *seats) if level and narrows else 1.0
            narrowing = Narrowing(ratio, kernels_ms, kernels_ms)
            cycle_ms = (factors or {}).get(way, 1.0) * narrowed.cycle_ms(Solo(c_ms + m_ms, c_ms), shape.jobs, narrowing,
                                                                       shape.links, 4)
            job = SimpleNamespace(step_ms=lambda _: cycle_ms, cycle_ms_within=lambda *_: cycle_ms)
            return SimpleNamespace(jobs={"alpha": job}, said={"alpha": (says,)})

        def solo(_context, shape):
            return Solo((1 + shape.ratio) * shape.compute_ms, shape.compute_ms), None

        def jobs(_context, shape, _library=None, environment=None, front=()):
            self.assertEqual(bool(front), bool(environment["CROSSOVER_SHRINK"]))
            return run(shape, environment)

        def choice(command, _environment):
            compute_s, exposed_s = map(float, command[1:3])
            return [{"choice": (chooses or _by_model)(exposed_s / compute_s), "why": "x"}]

        context = Context(mock.Mock(), say=lambda text: None, runs=1)
        with (mock.patch.object(narrowed_jobs.pairs, "solo", solo),
              mock.patch.object(narrowed_jobs.pairs, "alone", jobs),
              mock.patch.object(narrowed_jobs.pairs, "together", jobs),
              mock.patch.object(narrowed_jobs.pairs, "window", lambda *_: (0, 1)),
              mock.patch.object(narrowed_jobs, "json_lines", choice)):
            found = {(line.figure, line.case.removeprefix(f"{case}_")): line
                     for line in shrink_gain.measure(context, case)}
        return found, context.failures, asked


def _by_model(ratio):
    return "off:not_needed" if ratio <= 1 else "bf16" if ratio <= 2 else "q8"


class Gain(Played):
    def test_jobs_as_the_model_says_are_good(self):
        for case in shrink_gain.CASES:
            lines, failures, _ = self.lines(case)
            self.assertEqual([name for name, line in lines.items() if not line.ok], [], case)
            self.assertEqual(failures, [], case)
            for (figure, _), line in lines.items():
                if figure == "shrink_gain":
                    self.assertLess(line.value, 0.01, case)

    def test_each_level_has_its_line_and_three_samples(self):
        lines, _, asked = self.lines("2_private_3")
        self.assertEqual(set(lines), {*(("shrink_gain", level) for level in ("bf16", "q8", "auto")),
                                      ("shrink_auto", "2_private_3")})
        self.assertEqual({len(line.samples) for line in lines.values()}, {3})
        # Alone over fast links once for each level, and then three rounds: the runs alone are not repeated.
        self.assertEqual(asked, [("bf16", None), ("q8", None),
                                 *[("", None), ("bf16", None), ("q8", None), ("auto", "q8")] * 3])

    def test_slower_jobs_are_not(self):
        lines, _, _ = self.lines("2_private_3", {"q8": 1.04})
        self.assertFalse(lines["shrink_gain", "q8"].ok)
        self.assertTrue(lines["shrink_gain", "bf16"].ok)
        self.assertFalse(self.lines("alone_6", {"q8": 1.2})[0]["shrink_gain_alone", "q8"].ok)

    def test_jobs_that_are_not_narrowed_are_not(self):
        lines, _, _ = self.lines("2_private_3", narrows=False)
        self.assertEqual([lines["shrink_gain", level].ok for level in ("bf16", "q8", "auto")], [False] * 3)

    def test_a_job_that_says_that_it_runs_plain_is_a_failure(self):
        lines, failures, _ = self.lines("2_private_3", says="crossover: shrink: runs plain: x")
        self.assertEqual({line.value for line in lines.values()}, {None})
        self.assertIn("runs plain: x", failures[0]["why"])

    def test_a_void_run_is_one_of_its_level(self):
        lines, _, asked = self.lines("2_private_3", void=("bf16",))
        self.assertIsNone(lines["shrink_gain", "bf16"].value)
        self.assertTrue(lines["shrink_gain", "q8"].ok)
        self.assertIsNone(lines["shrink_auto", "2_private_3"].value)
        self.assertEqual(asked.count(("bf16", None)), 2, "one over fast links, and no more rounds after a void one")
        lines, _, _ = self.lines("2_private_3", void=("",))
        self.assertFalse(lines["shrink_gain", "q8"].ok, "its control is missing")


class Auto(Played):
    def test_nothing_is_chosen_where_turns_hide_the_wait(self):
        lines, failures, asked = self.lines("2_shared_0.6")
        self.assertEqual(set(lines), {("shrink_auto", "2_shared_0.6")})
        self.assertEqual(failures, [])
        self.assertIn(("auto", "off:not_needed"), asked)
        _, failures, _ = self.lines("2_shared_0.6", chooses=lambda _: "bf16")
        self.assertIn("expected that nothing is narrowed", failures[0]["why"])

    def test_a_level_that_is_not_the_best_is_not_good(self):
        for case, worse in (("2_private_1.5", "off:no_gain"), ("4_shared_3", "bf16"), ("2_shared_6", "bf16")):
            lines, _, _ = self.lines(case, chooses=lambda _, worse=worse: worse)
            self.assertFalse(lines["shrink_auto", case].ok, case)
            self.assertLess(lines["shrink_auto", case].value, 0.97, case)

    def test_the_control_is_the_strongest_weaker_level_that_is_worse(self):
        for case, chosen, what in (("2_private_1.5", "bf16", "no level in place of bf16"),
                                   ("2_private_3", "q8", "bf16 in place of q8"),
                                   ("2_shared_1.5", "q8", "no level in place of q8")):  # bf16 would do, too
            control = self.lines(case, chooses=lambda _, chosen=chosen: chosen)[0]["shrink_auto", case].control
            self.assertIn(what, control.what)
            self.assertTrue(control.caught)
            self.assertLess(control.value, 0.97)

    def test_a_control_that_is_as_good_says_that_the_case_proves_nothing(self):
        lines, _, _ = self.lines("2_private_3", {"bf16": 0.8})
        self.assertFalse(lines["shrink_auto", "2_private_3"].ok)

    def test_jobs_that_do_not_do_as_was_chosen_are_not_good(self):
        lines, _, _ = self.lines("2_private_3", {"auto": 1.04})
        self.assertFalse(lines["shrink_gain", "auto"].ok)
        self.assertFalse(lines["shrink_auto", "2_private_3"].ok)

    def test_no_node_has_more_to_send_and_no_run_may_be_later_than_its_compute_allows(self):
        for case in shrink_gain.CASES:
            shape = shrink_gain.shape_of(case)
            floats = shape.gradient_bytes // 4
            self.assertGreater(floats, 65_536, case)
            self.assertEqual(floats % (512 * shape.nodes), 0, case)
            self.assertLessEqual(shape.late_us, 0.01e3 * shape.compute_ms, case)

    def test_the_extender_is_asked_with_what_was_measured(self):
        commands = []

        def record(command, _environment):
            commands.append([str(part) for part in command[1:]])
            return [{"choice": "q8", "why": "x"}]

        context = Context(mock.Mock(), say=lambda text: None, runs=1)
        with mock.patch.object(narrowed_jobs, "json_lines", record):
            for links in ("shared", "private"):
                shape = Shape(6.0, compute_ms=30.0, ranks=4, nodes=4, links=links, gradient_bytes=4 * 66_560)
                self.assertEqual(narrowed_jobs.choice(context, shape, Solo(210.0, 30.0)), ("q8", "x"))
        self.assertEqual(commands, [["0.030000", "0.180000", link, "4", "1", "2", "66560"]
                                    for link in ("0.180000", "0.000000")])


if __name__ == "__main__":
    unittest.main()

import json
import tempfile
import unittest
from pathlib import Path

from benchmarks.runner import kinds, results
from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs
from testing.machine import Machine, link_speed_for, ring_all_reduce_seconds

KEYS = ["figure", "case", "value", "unit", "median", "worst", "goal", "ok", "control", "scope", "conditions", "where",
        "samples", "command", "revision", "taken"]


class Lines(unittest.TestCase):
    goal = Goal(">=", 0.97)

    def measured(self, value, control, **more):
        return Measured("eta", "plain_0.6", value, "1", self.goal, (value,),
                        controlled(self.goal, "late release", control), "words",
                        conditions=pairs.Shape(0.6).conditions(), **more)

    def test_keys(self):
        entry = results.line(self.measured(0.98, 0.7), "chain", "here", "python3 -m benchmarks.run")
        self.assertEqual(list(entry), [*KEYS, "remarks"])
        self.assertTrue(entry["ok"])
        self.assertEqual(entry["control"], 0.7)
        self.assertEqual(entry["remarks"], {"condition": "words", "controls": [
            {"what": "late release", "value": 0.7, "caught": True}]})
        self.assertEqual([entry["conditions"][key] for key in ("kind", "m_over_c", "links", "kernel_sms", "co_run")],
                         ["processes", 0.6, "shared", 132, 1.0])

    def test_a_control_that_passes_spoils_the_figure(self):
        self.assertFalse(self.measured(0.98, 0.99).ok)

    def test_a_control_that_was_not_measured_spoils_the_figure(self):
        self.assertFalse(self.measured(0.98, None).ok)

    def test_a_control_says_nothing_where_what_ships_misses_as_well(self):
        goal = Goal(">=", 0.99, "median", least=0.96, runs=5)
        self.assertTrue(controlled(goal, "late", 0.97, 0.985).caught, "a single run may be off the median")
        self.assertFalse(controlled(goal, "late", 0.97, 0.95).caught)
        self.assertFalse(controlled(goal, "late", 0.97, None).caught)
        self.assertFalse(controlled(goal, "late", 0.991, 0.995).caught)

    def test_each_of_several_controls_has_to_be_caught(self):
        goal = self.goal
        both = tuple(controlled(goal, what, value) for what, value in (("1 ms", 0.9), ("0.5 ms", 0.98)))
        measured = Measured("eta", "x", 0.98, "1", goal, (0.98,), both, "words")
        self.assertFalse(measured.ok)
        line = results.line(measured, "chain", "here", "run", "program")
        self.assertEqual([c["caught"] for c in line["remarks"]["controls"]], [True, False])

    def test_a_missed_figure_is_not_ok(self):
        self.assertFalse(self.measured(None, 0.5).ok)

    def test_without_limit_anything_is_ok(self):
        self.assertTrue(Measured("eta_beside", "x", 0.5, "1", Goal(), (0.5,)).ok)

    def test_a_case_without_conditions_is_refused(self):
        measured = Measured("eta", "x", 0.98, "1", self.goal, (0.98,), None, "words")
        with self.assertRaisesRegex(ValueError, r"eta x: conditions: jobs: expected a number from 1 to 64.*got None"):
            results.line(measured, "chain", "here", "run", "processes")
        with self.assertRaisesRegex(ValueError, r"kind: expected one of processes, .*, got ''"):
            results.line(measured, "chain", "here", "run")
        self.assertEqual(results.line(measured, "chain", "here", "run", "cluster")["conditions"],
                         {"kind": "cluster", "what": "words"})

    def test_append_adds_lines(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "deep" / "eta.jsonl"
            results.append(path, {"a": 1})
            results.append(path, {"a": 2})
            self.assertEqual([json.loads(row)["a"] for row in path.read_text().splitlines()], [1, 2])


class Goals(unittest.TestCase):
    def measured(self, goal, *samples):
        return Measured("x", "y", goal.of(samples), "1", goal, samples)

    def test_the_worst_of_enough_runs(self):
        floor = Goal(">=", 0.97, "worst", runs=3)
        self.assertTrue(self.measured(floor, 1.0, 0.97, 0.99).ok)
        self.assertFalse(self.measured(floor, 1.0, 0.75, 0.99).ok, "a median hides it")
        self.assertFalse(self.measured(floor, 1.0, 0.99).ok, "too few")
        self.assertEqual(str(floor), ">= 0.97, worst of 3 runs")
        self.assertEqual(Goal("<=", 5, "worst").of((1, 7, 2)), 7)

    def test_the_median_and_no_run_below(self):
        goal = Goal(">=", 0.99, "median", least=0.96, runs=3)
        self.assertTrue(self.measured(goal, 0.97, 0.991, 0.992).ok)
        self.assertFalse(self.measured(goal, 0.95, 0.991, 0.992).ok)
        self.assertFalse(self.measured(goal, 0.97, 0.98, 0.992).ok)
        self.assertEqual(str(goal), ">= 0.99 at the median, no run below 0.96")

    def test_a_missing_sample_leaves_no_value_and_keeps_the_others(self):
        missed = self.measured(Goal(">=", 0.9, "median"), 0.95, 0.97, None)
        self.assertIsNone(missed.value)
        self.assertFalse(missed.ok)
        self.assertEqual(missed.spread, {"median": 0.96, "worst": 0.95})

    def test_samples_of_another_kind_have_no_worst(self):
        self.assertEqual(Measured("p95", "x", 17.3, "ms", Goal("<=", 50), (900, 950, 990)).spread, {})


class Conditions(unittest.TestCase):
    def test_each_key_is_checked(self):
        good = pairs.Shape(0.6, links="private").conditions()
        self.assertEqual(kinds.faults(good), [])
        for key, value, words in (("links", "own", "links: expected one of shared, private, not modelled, got 'own'"),
                                  ("co_run", 2, "co_run: expected a number from 0.9 to 1.4"),
                                  ("ranks", 0, "ranks: expected a number from 1"), ("kernel_sms", None, "kernel_sms: "),
                                  ("kind", "gpu farm", "kind: expected one of processes"),
                                  ("c_ms", [], "c_ms: "), ("m_over_c", {"from": 0}, "m_over_c: "),
                                  ("jitter", True, "jitter: ")):
            self.assertEqual([fault[:len(words)] for fault in kinds.faults({**good, key: value})], [words])
        self.assertEqual(kinds.faults({**good, "c_ms": [20, 5], "m_over_c": {"from": 0, "to": 1}}), [])

    def test_a_model_of_jobs_says_as_much(self):
        self.assertEqual(kinds.faults({"kind": "model", "what": "a trace"}), [])
        self.assertGreater(len(kinds.faults({"kind": "model", "m_over_c": 0.6})), 5)


class Machines(unittest.TestCase):
    def test_link_speed_is_the_inverse_of_the_ring_time(self):
        speed = link_speed_for(0.012, 131072, 4)
        self.assertAlmostEqual(ring_all_reduce_seconds(131072, 4, speed), 0.012)

    def test_places_fill_nodes(self):
        self.assertEqual([Machine().place(r) for r in range(4)], [(0, 0), (0, 1), (1, 0), (1, 1)])

    def test_yaml_names_every_node(self):
        text = Machine(nodes=3, mode="timeslice").yaml("/dev/shm/x")
        self.assertEqual(text.count("  - name: node"), 3)
        self.assertIn("mode: timeslice\n", text)
        self.assertIn("state: /dev/shm/x\n", text)

    def test_yaml_has_what_makes_a_gpu_less_kind(self):
        lines = Machine(unkind=(("handover_us", 300), ("channels", 1))).yaml("/x").splitlines()
        place = lines.index("nodes:")
        self.assertEqual(lines[place - 2:place], ["handover_us: 300", "channels: 1"])
        self.assertNotIn("handover_us", Machine().yaml("/x"))

    def test_a_run_is_a_hang_long_after_its_jobs_could_have_run_alone(self):
        for iterations in (60, 1500):
            shape = pairs.Shape(0.6, iterations=iterations)
            alone_s = 2 * 1.6 * 0.02 * iterations
            self.assertAlmostEqual(shape.deadline_s(), 60 + 4 * alone_s)

    def test_shapes_say_what_makes_their_gpu_less_kind(self):
        plain, shape = pairs.Shape(0.6), pairs.Shape(0.6, unkind=(("switch_us", 50),), fault="early_waits_us:9")
        self.assertEqual(shape.machine().unkind, (("switch_us", 50),))
        self.assertEqual(shape.environment(), {"SIMGPU_FAULT": "early_waits_us:9"})
        self.assertIn("switch_us 50, early_waits_us:9", shape.condition())
        said = shape.conditions()
        self.assertEqual((said["unkind"], said["fault"]), ({"switch_us": 50}, "early_waits_us:9"))
        self.assertEqual(plain.environment(), {})
        self.assertNotIn("unkind", plain.conditions())


if __name__ == "__main__":
    unittest.main()

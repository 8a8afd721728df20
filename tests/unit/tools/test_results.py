import json
import tempfile
import unittest
from pathlib import Path

from benchmarks import results
from benchmarks.machine import Machine, link_speed_for, ring_all_reduce_seconds
from benchmarks.results import Goal, Measured, controlled

KEYS = ["figure", "case", "value", "unit", "goal", "ok", "control", "scope", "where", "samples", "command", "revision"]


class Lines(unittest.TestCase):
    goal = Goal(">=", 0.97)

    def measured(self, value, control):
        return Measured("eta", "plain_0.6", value, "1", self.goal, (value,),
                        controlled(self.goal, "late release", control))

    def test_keys(self):
        entry = results.line(self.measured(0.98, 0.7), "chain", "here", "python3 -m benchmarks.run")
        self.assertEqual(list(entry), [*KEYS, "remarks"])
        self.assertTrue(entry["ok"])
        self.assertEqual(entry["control"], 0.7)
        self.assertEqual(entry["remarks"], {"control": {"what": "late release", "caught": True}})

    def test_a_control_that_passes_spoils_the_figure(self):
        self.assertFalse(self.measured(0.98, 0.99).ok)

    def test_a_control_that_was_not_measured_spoils_the_figure(self):
        self.assertFalse(self.measured(0.98, None).ok)

    def test_a_missed_figure_is_not_ok(self):
        self.assertFalse(self.measured(None, 0.5).ok)

    def test_without_limit_anything_is_ok(self):
        self.assertTrue(Measured("eta_beside", "x", 0.5, "1", Goal(), (0.5,)).ok)

    def test_append_adds_lines(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "deep" / "eta.jsonl"
            results.append(path, {"a": 1})
            results.append(path, {"a": 2})
            self.assertEqual([json.loads(row)["a"] for row in path.read_text().splitlines()], [1, 2])


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


if __name__ == "__main__":
    unittest.main()

import unittest
from pathlib import Path

import yaml

from testing.processes import Failed
from testing.shipped import slots_per_gpu

ROOT = Path(__file__).resolve().parents[3]


class Shipped(unittest.TestCase):
    def test_slots_are_those_of_the_chart_and_of_the_daemons_example(self):
        chart = yaml.safe_load((ROOT / "charts/crossover/values.yaml").read_text(encoding="utf-8"))
        daemon = yaml.safe_load((ROOT / "deviceplugin/config/node.yaml").read_text(encoding="utf-8"))
        self.assertEqual(slots_per_gpu(), chart["deviceplugin"]["config"]["node"]["slots_per_gpu"])
        self.assertEqual(slots_per_gpu(), daemon["node"]["slots_per_gpu"])

    def test_what_does_not_say_it_once_is_refused(self):
        self.assertEqual(slots_per_gpu("node:\n  slots_per_gpu: 7\n"), 7)
        for text in ("node: {}\n", "  slots_per_gpu: many\n", "  slots_per_gpu: 1\n  slots_per_gpu: 2\n"):
            with self.assertRaisesRegex(Failed, "slots_per_gpu: expected one whole number, got"):
                slots_per_gpu(text)


if __name__ == "__main__":
    unittest.main()

import re
import unittest
from pathlib import Path

from testing import commands, pairs
from testing.commands import GRADIENT_BYTES

TREE = Path(__file__).resolve().parents[3]


class Preloading(unittest.TestCase):
    def test_libraries_are_preloaded_in_the_order_that_is_given(self):
        """A library that stands in for NCCL's functions in front of libcrossover.so has to be the first one."""
        self.assertEqual(commands.preloading(("/shrink.so", "/crossover.so"), ["trainer", "--seed=1"]),
                         ["env", "LD_PRELOAD=/shrink.so:/crossover.so", "trainer", "--seed=1"])


class Shape(unittest.TestCase):
    def test_nodes_and_bytes_are_those_of_the_machine_and_the_job(self):
        shape = pairs.Shape(1.5, ranks=4, nodes=4, gradient_bytes=1 << 18)
        machine = shape.machine()
        self.assertEqual((machine.nodes, machine.gpus_per_node), (4, 1))
        # The ring moves 1.5 times the bytes, in 1.5 times 20 ms.
        self.assertAlmostEqual(machine.node_link_bytes_per_s, 1.5 * (1 << 18) / 30e-3)
        self.assertEqual(shape.job("alpha", 1).gradient_bytes, 1 << 18)
        self.assertEqual((shape.conditions()["nodes"], shape.conditions()["gradient_bytes"]), (4, 1 << 18))
        self.assertIn("on 4 nodes", shape.condition())

    def test_half_of_the_exchanges_with_experts_crosses_a_link_between_two_nodes(self):
        """Each rank of four keeps a quarter, gives a quarter to its neighbour, and sends a half to the other node, as
        its neighbour does: the link carries as many bytes as one rank exchanges. The parameters are reduced, too."""
        model = (TREE / "examples" / "trainer" / "model.h").read_text(encoding="utf-8")
        pixels, classes = (int(re.search(rf"{name} = (\d+);", model)[1]) for name in ("kPixels", "kClasses"))
        widths = [pixels, *map(int, re.findall(r"^      return (\d+);", model, re.MULTILINE)), classes]
        parameters = sum((a + 1) * b for a, b in zip(widths, widths[1:]))
        shape = pairs.Shape(0.6, "experts", ranks=4, gradient_bytes=1 << 18)
        self.assertAlmostEqual(1.5 * shape.payload_bytes(), (1 << 18) + 1.5 * 4 * parameters)
        apart = pairs.Shape(0.6, "experts", ranks=4, nodes=4, gradient_bytes=1 << 18)
        self.assertAlmostEqual(1.5 * apart.payload_bytes(), 0.75 * (1 << 18) + 1.5 * 4 * parameters)

    def test_what_is_usual_is_not_said(self):
        shape = pairs.Shape(0.6)
        self.assertEqual((shape.machine().nodes, shape.job("alpha", 1).gradient_bytes), (2, GRADIENT_BYTES))
        self.assertEqual({"nodes", "gradient_bytes"} & set(shape.conditions()), set())
        self.assertEqual(pairs.Shape(0.6, ranks=1).machine().nodes, 1)


if __name__ == "__main__":
    unittest.main()

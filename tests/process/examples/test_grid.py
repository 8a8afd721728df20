"""Tests a matrix product on grids of ranks, on the software GPU. CTest sets BUILD in the environment."""

import os
import subprocess
import unittest
from pathlib import Path

from testing import grids
from testing.commands import Build
from testing.machine import Machine

MACHINE = Machine(nodes=2, gpus_per_node=4)
ITERATIONS = 2


def run(shape, *flags):
    return grids.run(Build(Path(os.environ["BUILD"])), MACHINE, shape, *flags, iterations=ITERATIONS)


class Grid(unittest.TestCase):
    def test_blocks_and_bytes_are_exact(self):
        for shape in (grids.Shape(2, 2), grids.Shape(1, 8), grids.Shape(2, 2, rows=24, inner=10, columns=36)):
            with self.subTest(shape=shape):
                ranks = run(shape)
                self.assertEqual([rank.said["wrong"] for rank in ranks],
                                 [{"y": 0, "gradient_of_x": 0, "gradient_of_a": 0}] * 8)
                self.assertEqual({rank.received for rank in ranks}, {ITERATIONS * shape.received})
                self.assertEqual({rank.said["bytes_received"] for rank in ranks}, {ITERATIONS * shape.received})

    def test_a_layer_of_consecutive_ranks_stays_in_its_node(self):
        shape = grids.Shape(2, 2)
        self.assertEqual({rank.other_nodes for rank in run(shape)}, {ITERATIONS * shape.through_layers})
        others = [rank.other_nodes for rank in run(shape, "--numbering=layers")]
        self.assertGreater(sum(others), 8 * ITERATIONS * shape.through_layers)

    def test_without_the_sum_over_the_layers_the_gradient_of_a_is_wrong(self):
        for rank in run(grids.Shape(2, 2), "--fault=no_layer_sum"):
            self.assertEqual((rank.said["wrong"]["y"], rank.said["wrong"]["gradient_of_x"]), (0, 0))
            self.assertGreater(rank.said["wrong"]["gradient_of_a"], 0)

    def test_flags_that_do_not_fit_are_refused_by_name(self):
        build = Build(Path(os.environ["BUILD"]))
        program = build.program("grid_product")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(build.gpu_libraries), "RANK": "0", "WORLD_SIZE": "8",
                       "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}
        for flags, words in (
                (["--q=2", "--d=3"], "--q and --d: expected q x q x d = 8 ranks, as WORLD_SIZE says, got 12"),
                (["--q=2", "--d=2", "--rows=66"], "--rows: expected a multiple of 4, got 66"),
                (["--q=0"], "--q: expected a whole number from 1 to 64, got 0"),
                (["--q"], "--q: expected --q=N, got --q"),
                (["--numbering=no"], "--numbering: expected rows or layers, got no"),
                (["--sides=2"], "argument: expected a flag that --help lists, got --sides=2")):
            with self.subTest(flags=flags):
                done = subprocess.run([program, *flags], env=environment, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (2, f"grid_product: {words}\n"))


if __name__ == "__main__":
    unittest.main()

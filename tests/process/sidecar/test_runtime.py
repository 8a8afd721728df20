"""Tests the real CUDA runtime, shared and static, and its stand-in over the software GPU's driver: what each keeps of
what it looks up."""

import os
import re
import unittest
from pathlib import Path

from tests.process.sidecar.test_sidecar import LIBRARY, SIMGPU, run

_TABLE = Path(__file__).parents[3] / "sidecar/hooks/cuda_hooks.def"
_LEAST = 100  # functions of the driver that it keeps


class Runtime(unittest.TestCase):

    def setUp(self):
        self.ours = set(re.findall(r"^CUDA_HOOK\((\w+),", _TABLE.read_text(encoding="utf-8"), re.MULTILINE))
        self.programs = {"shared": [os.environ["RUNTIME"], os.environ["CUDA_RUNTIME"]],
                         "static": [os.environ["STATIC_RUNTIME"]]}
        if "STAND_IN_RUNTIME" in os.environ:
            self.programs["stand-in"] = [os.environ["RUNTIME"], os.environ["STAND_IN_RUNTIME"]]

    def kept(self, command, *preload):
        """Returns {place in the runtime's data: (symbol, the library that it lies in)}."""
        said = run(command, LD_PRELOAD=":".join(preload), LD_LIBRARY_PATH=SIMGPU, CROSSOVER_GANG="a",
                   SIMGPU_MACHINE="1x1", NEXT_HOOK=LIBRARY).stdout
        return {place: (symbol, owner) for place, symbol, owner in (line.split() for line in said.splitlines())}

    def expected(self, command):
        """Returns what is expected: each function of our table reaches the library, in its own flavour and version, and
        nothing else does."""
        plain = self.kept(command)
        self.assertGreater(len(plain), _LEAST)
        self.assertEqual({owner for _, owner in plain.values()}, {"libcuda"})
        kept = {symbol for symbol, _ in plain.values()} & self.ours
        self.assertTrue({"cuLaunchKernel", "cuLaunchKernel_ptsz"} <= kept, kept)
        return {place: (symbol, "libcrossover" if symbol in self.ours else "libcuda")
                for place, (symbol, _) in plain.items()}

    def test_all_of_our_table_reach_us_in_the_right_flavour_and_nothing_else_does(self):
        for name, command in self.programs.items():
            with self.subTest(runtime=name):
                self.assertEqual(self.kept(command, LIBRARY), self.expected(command))

    def test_a_wrong_flavour_would_be_seen(self):
        for name, command in self.programs.items():
            with self.subTest(runtime=name):
                wrong = self.kept(command, os.environ["WRONG_FLAVOUR"], LIBRARY)
                expected = self.expected(command)
                differing = {expected[place][0] for place in expected if wrong.get(place) != expected[place]}
                self.assertIn("cuLaunchKernel_ptsz", differing)
                self.assertNotIn("cuLaunchKernel", differing)

    @unittest.skipUnless("STAND_IN_RUNTIME" in os.environ, "the software GPU's runtime is not built")
    def test_the_stand_in_keeps_nothing_that_the_real_one_does_not(self):
        real, stand_in = ({symbol for symbol, _ in self.kept(self.programs[name]).values()}
                          for name in ("shared", "stand-in"))
        self.assertGreater(len(stand_in), _LEAST)
        self.assertEqual(stand_in - real, set())


if __name__ == "__main__":
    unittest.main()

"""Tests which library answers when plugins reach for the driver, by the way in which they are loaded."""

import os
import unittest

from tests.process.sidecar.test_sidecar import SIMGPU, answers

_WAYS = ("linked", "dlsym", "proc_address", "export_table")
_PASSED_ON = {"export_table": "libcuda"}  # no table of ours has it


class Callers(unittest.TestCase):

    def setUp(self):
        self.environment = {"CROSSOVER_GANG": "a", "SIMGPU_MACHINE": "1x1", "LD_LIBRARY_PATH": SIMGPU}

    def reached(self, how, **options):
        return answers("caller", how, os.environ["CALLER"], **options, **self.environment)

    def test_without_the_library_everybody_reaches_the_driver(self):
        for how in ("local", "deepbind", "namespace"):
            self.assertEqual(self.reached(how, preload=()), dict.fromkeys(_WAYS, "libcuda"), how)

    def test_a_local_plugin_reaches_us(self):
        self.assertEqual(self.reached("local"), {**dict.fromkeys(_WAYS, "libcrossover"), **_PASSED_ON})

    def test_a_plugin_with_a_scope_of_its_own_reaches_the_driver_wholly(self):
        for how in ("deepbind", "namespace"):
            self.assertEqual(self.reached(how), dict.fromkeys(_WAYS, "libcuda"), how)

    def test_the_driver_of_another_namespace_is_left_alone(self):
        self.assertEqual(answers("other-driver", **self.environment),
                         {"alone": "libcuda", "alone-proc": "the-same", "beside": "libcuda", "beside-proc": "the-same",
                          "own": "libcrossover"})


if __name__ == "__main__":
    unittest.main()

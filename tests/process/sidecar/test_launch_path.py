"""Tests what a launch costs, in instructions, in each state that the library tells apart. The count is the same on
every run, so it has a bound here: testing/launches.py has the bounds. `benchmarks/overhead/hook_ns.py` measures the
time."""

import os
import platform
import unittest
from pathlib import Path

from testing import launches
from testing.commands import Build

BUILD = Build(Path(os.environ.get("BUILD", "")))
NATIVE = BUILD.native_library
PORTABLE = BUILD.portable_library(platform.machine())


def run(library, state):
    return launches.run_state(BUILD, library, state, "count")


class LaunchPath(unittest.TestCase):
    def expect_within(self, library):
        for state in launches.STATES:
            with self.subTest(state=state, library=library.name):
                said = run(library, state)
                self.assertEqual(said["state"], state)
                self.assertEqual((said["allocations"], said["locks"], said["system_calls"]), (0, 0, 0))
                for name, entry in said["entries"].items():
                    self.assertEqual((entry["atomics"], entry["system_calls"]), (0, 0), name)
                    self.assertTrue(launches.within(state, entry["instructions"]), (name, entry))

    def setUp(self):
        if platform.machine() != "x86_64":
            self.skipTest("instructions are counted on x86-64")

    def test_every_launch_is_within_its_bound(self):
        self.expect_within(NATIVE)

    def test_so_is_that_of_the_library_that_ships(self):
        if not PORTABLE.exists():
            self.skipTest("crossover_portable was not built")
        self.expect_within(PORTABLE)

    def test_a_hook_that_takes_4_ns_more_is_seen_in_every_state(self):
        """This is the control."""
        for state in launches.STATES:
            with self.subTest(state=state):
                counted = launches.worst_instructions(run(BUILD.known_bad("hooks_4ns"), state))
                self.assertFalse(launches.within(state, counted), counted)

    def test_a_lock_and_a_system_call_are_seen_in_every_state(self):
        """This is the control."""
        for state in launches.STATES:
            with self.subTest(state=state):
                said = run(BUILD.known_bad("slow_hooks"), state)
                self.assertGreaterEqual(said["locks"], said["launches"])
                self.assertGreaterEqual(said["system_calls"], said["launches"])


if __name__ == "__main__":
    unittest.main()

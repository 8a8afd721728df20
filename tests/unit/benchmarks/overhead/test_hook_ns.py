import tempfile
import unittest
from pathlib import Path
from unittest import mock

from benchmarks.overhead import hook_ns
from benchmarks.runner.context import Context
from testing.commands import Build
from testing.processes import Failed


def said(ns, instructions, locks=0):
    """Returns what the measuring program would say."""
    entries = {"cuLaunchKernel": {"hook_ns": ns, "instructions": instructions},
               "cuGraphLaunch": {"hook_ns": ns / 2, "instructions": instructions},
               "cuLaunchKernel_ptsz": {"instructions": instructions}}
    return {"entries": entries, "launches": 100, "allocations": 0, "locks": locks, "system_calls": locks}


class HookNs(unittest.TestCase):
    def measure(self, ships=said(1.5, 30), slow=said(100, 140, locks=100), planted=said(5.6, 68), state="gated"):
        answers = {"libcrossover.so": ships, "libcrossover_slow_hooks.so": slow, "libcrossover_hooks_4ns.so": planted}

        def run(_build, library, _state):
            if answers[library.name] is None:
                raise Failed("it did not get there")
            return answers[library.name]

        with tempfile.TemporaryDirectory() as top, mock.patch.object(hook_ns, "run_state", run):
            context = Context(Build(Path(top)), lambda text: None, runs=3)
            return {line.figure: line for line in hook_ns.measure(context, state)}

    def test_a_launch_that_costs_little_meets_its_goals(self):
        lines = self.measure()
        self.assertTrue(all(line.ok for line in lines.values()))
        self.assertEqual(lines["hook_ns"].value, 1.5)
        self.assertEqual(lines["hook_ns_instructions"].value, 30)
        self.assertEqual(len(lines["hook_ns"].samples), 3)

    def test_the_worst_kind_of_launch_counts(self):
        self.assertEqual(hook_ns.worst_ns(said(4, 1)), 4)
        self.assertFalse(self.measure(ships=said(4.5, 30))["hook_ns"].ok)
        self.assertFalse(self.measure(ships=said(2, 100))["hook_ns_instructions"].ok)

    def test_the_nearer_control_must_miss_too(self):
        lines = self.measure(planted=said(3.5, 50))
        self.assertEqual(lines["hook_ns"].control.value, 3.5)
        self.assertFalse(lines["hook_ns"].ok)

    def test_one_lock_is_one_too_many(self):
        self.assertFalse(self.measure(ships=said(1.5, 30, locks=1))["hook_ns_unclean"].ok)
        self.assertFalse(self.measure(slow=said(100, 140))["hook_ns_unclean"].ok, "the control would not be seen")

    def test_a_state_that_is_not_reached_is_void(self):
        for missing in ({"ships": None}, {"planted": None}):
            self.assertIsNone(self.measure(**missing)["hook_ns"].value)

    def test_a_processor_that_counts_nothing_leaves_that_figure_void(self):
        lines = self.measure(ships=said(1.5, None))
        self.assertIsNone(lines["hook_ns_instructions"].value)
        self.assertTrue(lines["hook_ns"].ok)

    def test_every_state_of_the_program_is_a_case(self):
        states = (Path(hook_ns.__file__).parents[1] / "hook_ns" / "states.h").read_text(encoding="utf-8")
        for case in hook_ns.CASES:
            self.assertIn(f'{{"{case}"', states)


if __name__ == "__main__":
    unittest.main()

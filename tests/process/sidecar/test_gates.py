"""Tests the ways in which a process waits for its turn, and the change from one way to another while it runs."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from tests.process.sidecar.test_sidecar import Machine, said_by_library

_SIMGPU = os.environ.get("SIMGPU_LIBRARIES", "")
_OPEN_A_WORD = Path(__file__).parent / "open_a_word.py"
_FALLS_BACK = "host gates instead"


class Gates(unittest.TestCase):
    """Runs two jobs in one PID namespace. testing/faults.py has every rank in a namespace of its own."""

    def take_turns(self, a, b, iterations=100):
        """Runs two jobs with these environments. Asserts that their losses are those without the library and that both
        take turns. Returns {job: the library's lines}."""
        machine = Machine(self)
        options = (f"--iterations={iterations}",)
        alone, _ = machine.finish("s", machine.start("s", library=None, options=options))
        jobs = {name: machine.start(name, options=options, CROSSOVER_LOG="info", **extra)
                for name, extra in (("a", a), ("b", b))}
        said = {}
        for name, ranks in jobs.items():
            summary, lines = machine.finish(name, ranks)
            self.assertEqual(summary["losses_digest"], alone["losses_digest"])
            said[name] = said_by_library(lines)
        events = machine.events()
        for name in said:
            self.assertGreater(sum(e["event"] == "hold" and e["gang"] == name for e in events), 20, said[name])
        machine.assert_watchdog_opened_none(self)
        return said

    def test_relayed_gates_beside_gpu_gates(self):
        said = self.take_turns({"CROSSOVER_GATES": "relay"}, {})
        self.assertIn("relayed gates", said["a"])
        self.assertIn("GPU gates", said["b"])

    def test_relayed_gates_need_no_registered_memory(self):
        refused = {"CROSSOVER_GATES": "relay", "SIMGPU_FAULT": "host_register_fails"}
        said = self.take_turns(refused, refused)
        for lines in said.values():
            self.assertIn("relayed gates", lines)
            self.assertNotIn(_FALLS_BACK, lines)

    def test_gpu_gates_become_host_gates_and_the_turns_go_on(self):
        self.falls_back({"SIMGPU_FAULT": "memops_fail:60"}, "GPU gates")

    def test_relayed_gates_become_host_gates_and_the_turns_go_on(self):
        self.falls_back({"CROSSOVER_GATES": "relay", "SIMGPU_FAULT": "memops_fail:40"}, "relayed gates")

    def falls_back(self, environment, before):
        said = self.take_turns(environment, {})
        self.assertEqual(said["a"].count(before), 2, "each rank began with them")
        self.assertEqual(said["a"].count(_FALLS_BACK), 2, "and said once that they are no more")
        self.assertNotIn("takes no turns", said["a"])
        self.assertNotIn(_FALLS_BACK, said["b"])


class WordsInDeviceMemory(unittest.TestCase):
    """Shows why no gate is a word that only a GPU can open: docs/design/0015-relayed-gates.md."""

    def opened(self, how, fault):
        done = subprocess.run([sys.executable, _OPEN_A_WORD, how], capture_output=True, text=True, timeout=60,
                              env={"PATH": os.environ["PATH"], "SIMGPU_LIBRARIES": _SIMGPU, "SIMGPU_MACHINE": "1x1",
                                   "SIMGPU_FAULT": fault})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_another_stream_opens_it(self):
        self.assertEqual(self.opened("stream", ""), "open")

    def test_another_stream_in_the_same_hardware_queue_does_not(self):
        self.assertEqual(self.opened("stream", "queues:1"), "shut")

    def test_the_host_does_where_it_can_reach_the_word(self):
        self.assertEqual(self.opened("host", "queues:1"), "open")


if __name__ == "__main__":
    unittest.main()

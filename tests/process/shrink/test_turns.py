"""Tests that jobs whose all-reduces are narrowed take turns as they do otherwise. The jobs overlap an early bucket with
the backward pass, and each rank is a node for NCCL."""

import os
import subprocess
import unittest
from pathlib import Path

from testing.ports import free_port
from tests.process.sidecar.test_sidecar import BIN, Machine

_BUILD = Path(os.environ.get("BUILD", ""))
_PLACE = _BUILD / "tests/process/shrink"
_ITERATIONS = 30
_FLOATS = 1 << 18  # half of them in each bucket: both are narrowed


class TwoNodes(Machine):
    """Runs jobs with the library of turns, and with that which narrows in front of it."""

    def start_narrowed(self, job, level, front, iterations=_ITERATIONS, of_turns=None, rank_0=None, rank_1=None):
        """Starts both ranks of a job and returns their processes. `front` is the library in front, or none, `of_turns`
        another libcrossover.so, and `rank_0` and `rank_1` have variables of one rank alone."""
        port = free_port()
        libraries = [*front, of_turns or _BUILD / "lib/libcrossover.so", _PLACE / "libshrink_host_kernels.so"]
        command = [BIN / "trainer", "--compute-ms=10", "--early-bytes=0.5", f"--gradient-bytes={4 * _FLOATS}",
                   "--seed=3", f"--iterations={iterations}", f"--log={self.directory}/{job}"]
        return [subprocess.Popen(
            [*command[:-1], f"{command[-1]}{rank}.log"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**self.environment, "RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1",
                 "MASTER_PORT": str(port), "NCCL_HOSTID": f"node{rank}", "LD_PRELOAD": ":".join(map(str, libraries)),
                 "CROSSOVER_GANG": job, "CROSSOVER_GANG_SIZE": "2", "CROSSOVER_SOCKET": str(self.socket),
                 "CROSSOVER_SHRINK": level, "CROSSOVER_SHRINK_IMAGE": str(_PLACE / "host_kernels.image"),
                 **({"0": rank_0, "1": rank_1}[rank] or {})})
            for rank in ("0", "1")]


class Turns(unittest.TestCase):
    def played(self, level, front, iterations=_ITERATIONS):
        """Runs two jobs beside each other. Returns (the losses of one as a word, its turns on each GPU, its words)."""
        machine = TwoNodes(self)
        ranks = {job: machine.start_narrowed(job, level, front, iterations) for job in ("a", "b")}
        summary, said = machine.finish("a", ranks["a"])
        machine.finish("b", ranks["b"])
        machine.assert_watchdog_opened_none(self, seldom=True)
        turns = {}
        for event in machine.events():
            if event["event"] == "hold" and event["gang"] == "a":
                turns[event["gpu"]] = turns.get(event["gpu"], 0) + 1
        return summary["losses_digest"], turns, said

    def assert_a_turn_in_each_iteration(self, turns, iterations=_ITERATIONS):
        self.assertEqual(len(turns), 2, turns)
        for count in turns.values():
            self.assertGreater(count, iterations // 2)
            self.assertLess(count, iterations * 3 // 2)

    def test_each_iteration_has_one_turn(self):
        plain, turns, _ = self.played("off", ())
        self.assert_a_turn_in_each_iteration(turns)
        front = (_PLACE / "libshrink_faulty.so",)
        losses = {}
        for level in ("off", "advise", "bf16", "q8", "adaptive"):
            with self.subTest(level):
                losses[level], turns, said = self.played(level, front)
                self.assert_a_turn_in_each_iteration(turns)
                lines = [line for text in said for line in text.splitlines() if "shrink" in line]
                if level == "advise":  # samples are no work of the job: its turns stay
                    self.assertTrue(lines and all("the relative squared error of" in line for line in lines), lines)
                else:
                    self.assertEqual(lines, [])
        self.assertEqual(losses["off"], plain)
        self.assertEqual(losses["advise"], plain)
        self.assertEqual(len({plain, losses["bf16"], losses["q8"]}), 3)  # they are narrowed

    def test_a_change_of_bits_changes_no_turns(self):
        """Both buckets have one count, so bits change in the 66th and the 116th iteration. A job takes no turns until
        its period is found: in one of 130 iterations it had 113."""
        _, turns, said = self.played("adaptive", (_PLACE / "libshrink_faulty.so",), 130)
        self.assertEqual([line for text in said for line in text.splitlines() if "shrink" in line], [])
        self.assertEqual(len(turns), 2, turns)
        for count in turns.values():
            self.assertGreater(count, 100)


if __name__ == "__main__":
    unittest.main()

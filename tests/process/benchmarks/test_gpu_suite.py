"""Tests benchmarks/gpu/run with the software GPU as its driver: every part of it, and its controls."""

import json
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from benchmarks.gpu.children import Cannot
from benchmarks.gpu.rig import Mps

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BUILD") or TOP / "build" / "dev")
RUN = TOP / "benchmarks" / "gpu" / "run"


class Suite(unittest.TestCase):

    def setUp(self):
        self.out = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gpu-suite-")))

    def start(self, *parts):
        environment = {name: value for name, value in os.environ.items() if name not in ("ONLY", "OUT")}
        environment["GPU_SUITE_TEST"] = str(self.out)  # marks its processes
        command = [RUN, "--software", "--quick", "--no-build", "--build", BUILD, "--out", self.out]
        return subprocess.Popen([*command, "--only", ",".join(parts)], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def measure(self, *parts):
        """Runs these parts. Returns (exit code, output, {(figure, case): line})."""
        with self.start(*parts) as process:
            said = process.communicate(timeout=390)[0]
        return process.returncode, said, self.lines()

    def lines(self):
        path = self.out / "gpu.jsonl"
        entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
        return {(entry["figure"], entry["case"]): entry for entry in entries}

    def assert_ok(self, lines, said, *figures):
        """Asserts that these figures are in the lines and that each is ok, which includes that its control missed."""
        for wanted in figures:
            found = [entry for (figure, _), entry in lines.items() if figure == wanted]
            self.assertTrue(found, said)
            for entry in found:
                self.assertTrue(entry["ok"], f"{entry}\n{said}")

    def assert_nothing_left(self):
        """Asserts that no process which the suite has started is left."""
        left = []
        for stat in Path("/proc").glob("[0-9]*/environ"):
            try:
                if str(self.out).encode() in stat.read_bytes():
                    left.append(stat.parent.name)
            except OSError:
                continue
        self.assertEqual(left, [])


# It runs as MPS's control daemon does, until it is told to quit.
_CONTROL_DAEMON = """#!/bin/sh
if [ "$1" = -f ]; then
  echo $$ >"$CUDA_MPS_PIPE_DIRECTORY/pid"
  touch "$CUDA_MPS_PIPE_DIRECTORY/control"
  exec sleep 1000
fi
kill "$(cat "$CUDA_MPS_PIPE_DIRECTORY/pid")"
"""


class RigWithoutServer:
    """Stands in for a rig on whose machine the control daemon of MPS runs, and no server of it can start."""

    software = True

    def __init__(self, folder):
        self._control = folder / "control-daemon"
        self._control.write_text(_CONTROL_DAEMON, encoding="utf-8")
        self._control.chmod(0o755)

    def program(self, _name):
        return self._control

    def environment(self, **more):
        return os.environ | {name: str(value) for name, value in more.items()}

    def probe(self, *_arguments, **_options):
        raise Cannot("gpu_probe: ended with 1: cuInit: CUDA_ERROR_MPS_CONNECTION_FAILED")


class MpsOfARig(unittest.TestCase):

    def test_a_control_daemon_whose_server_cannot_start_is_no_mps(self):
        with tempfile.TemporaryDirectory() as folder:
            mps = Mps(RigWithoutServer(Path(folder)), Path(folder))
            with self.assertRaisesRegex(Cannot, "MPS runs and serves no client: .*MPS_CONNECTION_FAILED"):
                mps.__enter__()
            self.assertFalse(mps.daemon.alive(), "it was stopped")


class Driver(Suite):

    def test_probes(self):
        parts = ("words", "blocked", "lookups", "queues", "budget", "users")
        code, said, lines = self.measure(*parts)
        self.assert_ok(lines, said, "gpu_lookup_identity", "gpu_streams_held_up", "gpu_budget", "gpu_beside_blocked",
                       "gpu_word_hop_us")
        self.assertEqual(lines["gpu_lookup_identity", "driver"]["control"], 0)
        self.assertEqual(lines["gpu_budget", "library"]["control"], 0)
        self.assertEqual(lines["gpu_streams_held_up_beside", "connections_1"]["value"], 24)
        self.assertIsNone(lines["gpu_second_user_s", "one_user"]["value"])
        self.assertIsNotNone(lines["gpu_second_user_s", "multi_user"]["value"])
        self.assertEqual(code, 0, said)

    def test_handover(self):
        _, said, lines = self.measure("handover")
        for case in ("mps", "timeslice"):
            self.assertIn(("gpu_handover_us", case), lines, said)
            self.assertIn(("gpu_handover_us_p99", case), lines, said)
        refused = lines["gpu_handover_us_beside", "mps_ipc_apart"]
        self.assertIsNone(refused["value"])
        self.assertIn("cuIpcOpenMemHandle", refused["remarks"]["refused"])

    def test_kills_in_a_kernel(self):
        code, said, lines = self.measure("kernel_kills")
        self.assert_ok(lines, said, "gpu_kernel_kills")
        self.assertEqual(code, 0, said)


class Jobs(Suite):

    def test_sharing(self):
        _, said, lines = self.measure("jobs")
        for figure in ("gpu_eta", "gpu_guard", "gpu_gain_over_best_baseline"):
            entry = lines[figure, "native_0.6"]
            self.assertIsNotNone(entry["value"], said)
            self.assertLess(entry["control"], entry["value"], said)
        self.assertGreater(lines["gpu_guard", "native_0.6"]["value"], 0.9, said)

    def test_losses(self):
        code, said, lines = self.measure("losses")
        self.assert_ok(lines, said, "gpu_losses_identical")
        self.assertEqual(lines["gpu_losses_identical", "trainer"]["control"], 0)
        self.assertEqual(code, 0, said)

    def test_kills(self):
        _, said, lines = self.measure("kills")
        entry = lines["gpu_kills", "native_mps"]
        self.assertEqual((entry["value"], entry["control"]), (0, 1), said)

    def test_solo(self):
        _, said, lines = self.measure("solo")
        entry = lines["gpu_solo_overhead", "native"]
        self.assertLess(entry["value"], entry["control"], said)


class Stopping(Suite):

    def test_what_cannot_run_says_why(self):
        code, said, lines = self.measure("torch_models", "real_nccl")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"torch_models: not run: PyTorch computes on real GPUs alone")
        self.assertRegex(said, r"real_nccl: not run: needs NVIDIA's NCCL")
        self.assertEqual(lines, {})

    def test_results_add_up(self):
        self.measure("lookups")
        _, _, lines = self.measure("queues")
        self.assertIn(("gpu_lookup_identity", "driver"), lines)
        self.assertIn(("gpu_streams_held_up", "connections_8"), lines)

    def test_sigterm_leaves_nothing(self):
        with self.start("jobs") as process:
            told = ""
            while "jobs ..." not in told:
                line = process.stdout.readline()
                self.assertTrue(line, told)
                told += line
            process.send_signal(signal.SIGTERM)
            rest = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 130, told + rest)
        self.assert_nothing_left()

    def test_unknown_part(self):
        with self.start("nonsense") as process:
            said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 2)
        self.assertTrue(re.search("--only nonsense: no such part; there are words,", said), said)


if __name__ == "__main__":
    unittest.main()

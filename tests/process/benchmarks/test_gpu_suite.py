"""Tests benchmarks/gpu/run with the software GPU as its driver: every part of it, and its controls."""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from benchmarks.gpu.children import Cannot
from benchmarks.gpu.rig import Mps
from benchmarks.quality import suite_lacks, suite_stage

TOP = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("BUILD") or TOP / "build" / "dev")
RUN = TOP / "benchmarks" / "gpu" / "run"


class Suite(unittest.TestCase):

    def setUp(self):
        self.out = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="gpu-suite-")))

    def start(self, *parts, options=()):
        environment = {name: value for name, value in os.environ.items() if name not in ("ONLY", "OUT")}
        environment["GPU_SUITE_TEST"] = str(self.out)  # marks its processes
        command = [RUN, "--software", "--quick", "--no-build", "--build", BUILD, "--out", self.out, *options]
        return subprocess.Popen([*command, "--only", ",".join(parts)], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def measure(self, *parts, options=()):
        """Runs these parts. Returns (exit code, output, {(figure, case): line})."""
        with self.start(*parts, options=options) as process:
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


# A job that takes turns at each of its steps has far more.
_LEAST_TURNS = 10

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
        self.build = folder
        (folder / "bin").mkdir()
        control = folder / "bin" / "nvidia-cuda-mps-control"
        control.write_text(_CONTROL_DAEMON, encoding="utf-8")
        control.chmod(0o755)

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
        parts = ("words", "blocked", "lookups", "queues", "budget", "users", "mps_sights")
        code, said, lines = self.measure(*parts)
        self.assert_ok(lines, said, "gpu_lookup_identity", "gpu_streams_held_up", "gpu_budget", "gpu_beside_blocked",
                       "gpu_word_hop_us", "gpu_mps_sights")
        for way in ("timeslice", "mps"):
            self.assertIn(("gpu_word_hop_us", f"{way}_legacy"), lines, said)
            self.assertIn(("gpu_beside_blocked", f"{way}_copy"), lines, said)
        self.assertNotEqual(lines["gpu_word_hop_us", "timeslice"]["goal"], lines["gpu_word_hop_us", "mps"]["goal"])
        for case in ("private_shm", "read_only_pipes", "both"):
            entry = lines["gpu_mps_sights", case]
            self.assertEqual((entry["value"], entry["remarks"]["without_pipes"]), (1, 0), said)
        self.assertEqual(lines["gpu_lookup_identity", "driver"]["control"], 0)
        self.assertEqual(lines["gpu_budget", "library"]["control"], 0)
        self.assertEqual(lines["gpu_streams_held_up_beside", "connections_1"]["value"], 24)
        self.assertIsNone(lines["gpu_second_user_s", "one_user"]["value"])
        self.assertIsNotNone(lines["gpu_second_user_s", "multi_user"]["value"])
        self.assertEqual(code, 0, said)

    def test_handover(self):
        _, said, lines = self.measure("handover")
        for way in ("timeslice", "mps"):
            for gates in ("gpu", "relay", "host", *(("ipc",) if way == "mps" else ())):
                for place in ("same", "apart"):
                    entry = lines["gpu_handover_us_beside", f"{way}_{gates}_{place}"]
                    self.assertIsNotNone(entry["value"], f"{entry}\n{said}")
            for gates in ("gpu", "ipc") if way == "mps" else ("gpu",):
                entry = lines["gpu_handover_us", f"{way}_{gates}"]
                self.assertLess(entry["value"], entry["control"], said)
                self.assertIn(("gpu_handover_us_p99", f"{way}_{gates}"), lines, said)
            for busy in (0, 1, 3):
                self.assertGreater(lines["gpu_opening_us", f"{way}_{busy}_busy"]["value"], 0, said)
            entry = lines["gpu_opening_us", f"{way}_3_busy"]
            self.assertLess(entry["value"], entry["control"], said)
        self.assertIn("`transport: auto` is host on software GPUs: not measured under MPS: clients that wait", said)

    def test_kills_in_a_kernel_and_at_a_gate(self):
        code, said, lines = self.measure("kernel_kills", "gate_kills")
        self.assert_ok(lines, said, "gpu_kernel_kills", "gpu_gate_kills")
        for case in ("timeslice_gate_sigkill", "mps_gate_terminate", "mps_release_sigkill", "mps_release_terminate"):
            self.assertEqual(lines["gpu_gate_kills", case]["control"], 1, said)
        self.assertEqual(code, 0, said)


class Streams(Suite):

    def test_releases_waits_and_order(self):
        code, said, lines = self.measure("releases", "long_waits", "litmus", "joins")
        self.assert_ok(lines, said, "gpu_releases_held", "gpu_long_wait", "gpu_litmus")
        for way in ("timeslice", "mps"):  # the probe sees releases that wait for other streams, where they do
            beside = lines["gpu_releases_held_beside", f"{way}_connections_1_4_streams"]
            self.assertEqual((beside["value"], beside["unit"]), (20, "pairs of 20"), said)
            self.assertGreater(lines["gpu_join_step_ms", way]["value"], 0)
        self.assertGreater(lines["gpu_litmus", "barrier"]["control"], 0)
        self.assertEqual(code, 0, said)

    def test_a_driver_whose_releases_wait_misses_the_goal(self):
        code, said, lines = self.measure("releases", options=("--simgpu-fault", "queues:1"))
        for way in ("timeslice", "mps"):
            entry = lines["gpu_releases_held", f"{way}_default_4_streams"]
            self.assertEqual((entry["value"], entry["ok"]), (20, False), said)
            self.assertIn("--simgpu-fault=queues:1", entry["command"])
        self.assertEqual(code, 1, said)

    def test_a_driver_whose_writes_are_late_misses_the_goal(self):
        code, said, lines = self.measure("litmus", options=("--simgpu-fault", "delayed_writes_us:50"))
        self.assertIn(("gpu_litmus", "plain"), lines, said)
        self.assertFalse(lines["gpu_litmus", "plain"]["ok"], said)
        self.assertGreater(lines["gpu_litmus", "plain"]["value"], 0, said)
        self.assertEqual(code, 1, said)

    def test_small_kernels_beside_a_crowd(self):
        _, said, lines = self.measure("crowd")
        for way in ("timeslice", "mps"):
            for memory in ("host", "device"):
                entry = lines["gpu_crowd", f"{way}_{memory}"]
                self.assertLess(entry["value"], entry["control"], said)
                self.assertIsNotNone(lines["gpu_crowd_beside", f"{way}_{memory}_2x1"]["value"], said)

    def test_a_gpu_that_pays_for_waits_shows_it_at_either_memory(self):
        dear = "blocked_wait_ns=50000,blocked_device_wait_ns=200000"
        _, said, lines = self.measure("crowd", options=("--simgpu-machine", dear))
        none, two = ({memory: lines["gpu_crowd_beside", f"mps_{memory}_{clients}x1"]["value"]
                      for memory in ("host", "device")} for clients in (0, 2))
        self.assertGreater(two["host"], 2 * none["host"], said)
        self.assertGreater(two["device"], 2 * two["host"], said)
        for memory in ("host", "device"):
            self.assertFalse(lines["gpu_crowd", f"mps_{memory}"]["ok"], said)

    def test_first_kernels_and_exits(self):
        _, said, lines = self.measure("smoke", "exits")
        self.assert_ok(lines, said, "gpu_exits")
        entry = lines["gpu_smoke", "cukernel"]
        self.assertEqual((entry["value"], entry["control"], entry["remarks"]["said"]["name"]), (1, 0, "null"), said)

    def test_the_first_ten_minutes(self):
        _, said, lines = self.measure("first")
        order = re.findall(r"^(\w+) \.\.\.$", said, re.M)
        self.assertEqual(order, ["smoke", "words", "blocked", "releases", "long_waits", "mps_sights", "litmus", "jobs"])
        self.assertEqual({line["command"].rpartition("--only ")[2] for line in lines.values()}, {"first"}, said)
        self.assertIn("Releases wait for compute alone under MPS", said)
        self.assertIsNotNone(lines["gpu_guard", "native_0.6"]["value"], said)

    def test_an_answer_spares_the_questions_that_rest_on_it(self):
        with suite_stage.Stage(BUILD) as stage:
            probe = BUILD / "bin" / "gpu_probe"
            stage.script(stage.build / "bin" / "gpu_probe", f"""
case $1 in
words | joins) echo "cuStreamBatchMemOp: CUDA_ERROR_NOT_SUPPORTED" >&2 && exit 1 ;;
esac
exec {probe} "$@\"""")
            stage.script(stage.build / "bin" / "gpu_job", "exit 1")
            stage.arguments.append("--no-build")
            _, said = stage.run(TOP, ("first",))
            entries = [json.loads(line) for line in (stage.out / "gpu.jsonl").read_text(encoding="utf-8").splitlines()]
        for part, figure in (("blocked", "gpu_beside_blocked"), ("releases", "gpu_releases_held"),
                             ("long_waits", "gpu_long_wait"), ("litmus", "gpu_litmus")):
            (entry,) = [entry for entry in entries if entry["figure"] == figure]
            self.assertEqual(entry["case"], f"not_measured_by_{part}", said)
            self.assertIn("not asked: no stream was seen to wait for a word", entry["remarks"]["reason"])
        self.assertIn("gates must be on the host", said)


class Lacks(unittest.TestCase):
    """Runs the suite on machines that lack something. Each test is one of suite_lacks.LACKS."""

    def play(self, lack):
        if lack.name == "daemon_runs_already" and os.getuid() != 0:
            self.skipTest("needs root, for a daemon at the default place in a mount namespace")
        outcome = suite_lacks.play(lack, BUILD)
        self.assertEqual(outcome.faults, [], outcome.said)


for _lack in suite_lacks.LACKS:
    setattr(Lacks, f"test_{_lack.name}", lambda self, lack=_lack: self.play(lack))


class KernelImages(unittest.TestCase):
    """Runs what the preset gpu does to make a fatbin, with another nvcc."""

    def fatbin(self, nvcc, architectures="90"):
        with tempfile.TemporaryDirectory() as folder:
            if nvcc is not None:
                (Path(folder) / "nvcc").write_text(f"#!/bin/sh\n{nvcc}\n", encoding="utf-8")
                (Path(folder) / "nvcc").chmod(0o755)
            script = Path(folder) / "script.cmake"
            script.write_text(f"""
set(CMAKE_CURRENT_BINARY_DIR {folder})
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
include({TOP}/benchmarks/gpu/programs/kernels_fatbin.cmake)
crossover_gpu_fatbin(OUTPUT fatbin PTX {TOP}/benchmarks/gpu/programs/kernels.ptx)
message(STATUS "made: '${{fatbin}}'")
""", encoding="utf-8")
            command = [_which("cmake"), f"-DCROSSOVER_GPU_ARCHITECTURES={architectures}", "-P", script]
            done = subprocess.run(command, env={"PATH": folder}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.search(r"made: '(.*)'", done.stdout)[1], done.stdout

    def test_without_nvcc_the_kernels_are_ptx(self):
        fatbin, said = self.fatbin(None)
        self.assertEqual(fatbin, "")
        self.assertIn("no nvcc: the kernels are PTX alone", said)

    def test_an_nvcc_that_refuses_leaves_ptx(self):
        fatbin, said = self.fatbin("echo Unsupported gpu architecture >&2; exit 1")
        self.assertEqual(fatbin, "")
        self.assertIn("Unsupported gpu architecture: the kernels are PTX alone", said)

    def test_an_nvcc_that_works_makes_a_fatbin(self):
        fatbin, said = self.fatbin('while [ "$1" != -o ]; do shift; done; echo fatbin >"$2"')
        self.assertTrue(fatbin.endswith("kernels.fatbin"), said)

    def test_no_architecture_asks_for_no_fatbin(self):
        self.assertEqual(self.fatbin("exit 1", "")[0], "")


def _which(program):
    found = shutil.which(program)
    if found is None:
        raise unittest.SkipTest(f"no {program}")
    return found


class Jobs(Suite):

    def test_sharing(self):
        _, said, lines = self.measure("jobs")
        for figure in ("gpu_eta", "gpu_guard", "gpu_gain_over_best_baseline"):
            entry = lines[figure, "native_0.6"]
            self.assertIsNotNone(entry["value"], said)
            self.assertIsNotNone(entry["control"], said)
            turns = entry["remarks"]["turns"]
            self.assertEqual(sorted(turns), ["turns_mps", "turns_timeslicing"], f"{entry}\n{said}")
            self.assertGreater(min(map(min, turns.values())), _LEAST_TURNS, said)

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
        self.assertEqual(len(entry["samples"]), 4, said)
        self.assertIsNotNone(entry["control"], said)


class Stopping(Suite):

    def test_what_cannot_run_says_why(self):
        code, said, lines = self.measure("torch_models", "real_nccl")
        self.assertEqual(code, 1)
        why = "(PyTorch computes on real GPUs alone|.* has no PyTorch|needs NVIDIA's NCCL|no libnccl.so.2)"
        for part, figure in (("torch_models", "gpu_eta"), ("real_nccl", "gpu_real_nccl")):
            self.assertRegex(said, f"(?m)^{part}: not run: {why}")
            self.assertRegex(lines[figure, f"not_measured_by_{part}"]["remarks"]["reason"], why)

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

    def test_options_of_the_software_gpu_want_it(self):
        done = subprocess.run([RUN, "--simgpu-fault", "queues:1"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--simgpu-machine, --simgpu-fault: expected --software beside them", done.stderr)

    def test_unknown_part(self):
        with self.start("nonsense") as process:
            said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 2)
        self.assertTrue(re.search("--only: expected some of first, words, .*, got nonsense", said), said)


if __name__ == "__main__":
    unittest.main()

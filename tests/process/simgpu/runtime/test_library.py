"""Tests libcudart.so.13 of the software GPU as a file and in processes: its names, how it finds the driver, what it
refuses, which errors stick."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from simgpu.stand_ins import elf, wanted as lists
from testing import runtime_calls

_ROOT = Path(__file__).parents[4]
_SOURCES = _ROOT / "simgpu/runtime"
_WANTED = _ROOT / "simgpu/stand_ins/torch-2.15.0.txt"
_RUNTIME, _DRIVER, _NARROW = (Path(os.environ[name]) for name in ("RUNTIME", "DRIVER", "NARROW_DRIVER"))
_NODE = "libcudart.so.13"
# jaxlib binds these beside the names that PyTorch binds.
_OF_JAX = {"cudaGetFuncBySymbol", "cudaFuncGetName", "cudaMemset2DAsync", "cudaGraphCreate", "cudaStreamGetFlags",
           "cudaDeviceDisablePeerAccess", "cudaDeviceReset", "cudaSetDeviceFlags", "cudaGetDriverEntryPoint"}


def exported():
    return {symbol.name: symbol.version for symbol in elf.symbols(_RUNTIME) if symbol.defined and symbol.name != _NODE}


def wanted():
    return {name.symbol for name in lists.read(_WANTED) if name.library == _NODE} | _OF_JAX


def lacking(names):
    """Returns those of `names` that the library does not export under its version node."""
    own = exported()
    return {name for name in names if own.get(name) != _NODE}


class Names(unittest.TestCase):

    def test_all_that_programs_want_are_there_under_the_version_node(self):
        self.assertGreaterEqual(len(wanted()), 113)
        self.assertEqual(lacking(wanted()), set())

    def test_a_missing_one_is_found(self):
        self.assertEqual(lacking(wanted() | {"cudaNotThere"}), {"cudaNotThere"})

    def test_nothing_else_is_exported(self):
        self.assertEqual({name for name in exported() if not re.match(r"(__)?cuda[A-Z]", name)}, set())

    def test_no_function_of_the_driver_is_linked(self):
        undefined = [symbol.name for symbol in elf.symbols(_RUNTIME) if not symbol.defined]
        self.assertIn("dlopen", undefined)
        self.assertEqual([name for name in undefined if name.startswith("cu")], [])


class Calls(unittest.TestCase):

    def setUp(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.TemporaryDirectory(prefix="simgpu-test-", dir=base)
        self.addCleanup(self.directory.cleanup)

    def make(self, *calls, driver=_DRIVER, code=0, **environment):
        """Makes calls in a process of their own. Returns ([(name, result)...], other lines of stdout, stderr)."""
        env = {key: value for key, value in os.environ.items() if not key.startswith(("SIMGPU_", "CUDA_"))}
        env |= {"SIMGPU_MACHINE": f"1x2,state={self.directory.name}/state", **environment}
        env["LD_LIBRARY_PATH"] = str(driver.parent) if driver else self.directory.name
        done = subprocess.run([sys.executable, "-B", str(Path(__file__).parent / "calls.py"), str(_RUNTIME),
                               json.dumps(calls)], env=env, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        return ([(line[0], int(line[1])) for line in lines if line[0] != "asked"],
                [line[1:] for line in lines if line[0] == "asked"], done.stderr)

    def results(self, *calls, **options):
        return [result for _, result in self.make(*calls, **options)[0]]

    def test_each_function_of_the_driver_comes_from_its_look_up(self):
        calls = [["cudaFree", 0], ["cudaStreamSynchronize", 0], ["cudaStreamSynchronize_ptsz", 0],
                 ["cudaGetDeviceProperties", {"out": 4096}, 1], ["cudaDeviceSynchronize"]]
        results, asked, _ = self.make(*calls, driver=_NARROW, REAL_DRIVER=str(_DRIVER))
        self.assertEqual([result for _, result in results], [0] * len(calls))
        table = (_SOURCES / "driver.def").read_text(encoding="utf-8")
        legacy, per_thread = "1", "2"
        expected = [[*row, legacy] for row in re.findall(r"^DRIVER_CALL\((\w+), (\d+)\)", table, re.M)]
        for name, version, own in re.findall(r"^STREAM_CALL\((\w+), (\d+), \w+, (\d+)\)", table, re.M):
            expected += [[name, version, legacy], [name, own, per_thread]]
        self.assertGreater(len(expected), 150)
        self.assertEqual(sorted(asked), sorted(expected))

    def test_what_is_not_implemented_refuses_by_its_name(self):
        names = re.findall(r"^REFUSED\((\w+)\)", (_SOURCES / "refused.def").read_text(encoding="utf-8"), re.M)
        self.assertGreater(len(names), 100)
        results, _, errors = self.make(*([name] for name in names), ["cudaGetLastError"], ["cudaGetLastError"])
        self.assertEqual(results, [(name, 801) for name in [*names, "cudaGetLastError"]] + [("cudaGetLastError", 0)])
        for name in names:
            self.assertRegex(errors, rf"(?m)^simgpu runtime \[\d+\] refused {name}: this library does not have it$")

    def test_what_the_driver_lacks_refuses_by_the_name_of_the_driver(self):
        results, _, errors = self.make(["cudaGraphClone", 0, 0], ["cudaGraphClone", 0, 0])
        self.assertEqual([result for _, result in results], [801, 801])
        self.assertEqual(errors.count("refused cuGraphClone: the driver does not have it"), 1)

    def test_what_is_implemented_says_nothing(self):
        results, _, errors = self.make(["cudaFree", 0], ["cudaDeviceSynchronize"], ["cudaGetLastError"])
        self.assertEqual([result for _, result in results], [0, 0, 0])
        self.assertNotIn("refused", errors)

    def test_a_lost_context_is_an_error_that_sticks(self):
        lost = 700  # cudaErrorIllegalAddress
        self.assertEqual(
            self.results(["cudaMallocHost", {"out": 8}, 64], ["cuStreamWriteValue32_v2", 0, {"written": 0}, 1, 0],
                         ["cudaDeviceSynchronize"], ["cudaGetLastError"], ["cudaGetLastError"],
                         ["cudaMalloc", {"out": 8}, 64], ["cudaSetDevice", 9], ["cudaPeekAtLastError"],
                         SIMGPU_FAULT="memops_break:0"),
            [0, 0] + [lost] * 6)

    def test_another_error_does_not_stick(self):
        self.assertEqual(self.results(["cudaSetDevice", 9], ["cudaPeekAtLastError"], ["cudaGetLastError"],
                                      ["cudaGetLastError"], ["cudaDeviceSynchronize"]), [101, 101, 101, 0, 0])

    def test_without_a_driver(self):
        self.assertEqual(self.results(["cudaGetDeviceCount", {"out": 8}], ["cudaGetLastError"], ["cudaFree", 0],
                                      ["cudaDriverGetVersion", {"out": 8}], driver=None), [35, 35, 35, 0])

    def test_without_a_device(self):
        self.assertEqual(self.results(["cudaGetDeviceCount", {"out": 8}], CUDA_VISIBLE_DEVICES=""), [100])

    def test_in_a_forked_child(self):
        self.assertEqual(self.results(["cudaFree", 0], ["fork"], ["cudaFree", 0], ["cudaGetLastError"]), [0, 3, 3])
        self.assertEqual(self.results(["fork"], ["cudaFree", 0]), [0])


@unittest.skipUnless("RECORDER" in os.environ, "the recorder is built on x86-64 alone")
class Sequences(unittest.TestCase):

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="simgpu-test-")
        self.addCleanup(directory.cleanup)
        os.environ["SIMGPU_MACHINE"] = f"1x1,state={directory.name}/state"
        self.addCleanup(os.environ.pop, "SIMGPU_MACHINE")

    def test_each_call_becomes_the_driver_s_of_its_name(self):
        calls = runtime_calls.recorded(_DRIVER, os.environ["RECORDER"], _RUNTIME)
        self.assertEqual({call["result"] for call in calls}, {0})
        made = {call["call"]: call["driver"] for call in calls}
        for call, driver in {"cudaSetDevice": ["cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"],
                             "cudaMalloc": ["cuMemAlloc_v2"], "cudaLaunchKernel": ["cuLaunchKernel"],
                             "cudaLaunchKernel_ptsz": ["cuLaunchKernel_ptsz"], "cudaEventRecord": ["cuEventRecord"],
                             "cudaStreamWaitEvent": ["cuStreamWaitEvent"], "cudaGraphLaunch": ["cuGraphLaunch"],
                             "cudaStreamSynchronize": ["cuStreamSynchronize"],
                             "cudaDeviceSynchronize": ["cuCtxSynchronize"]}.items():
            self.assertEqual(made[call], driver, call)
        self.assertEqual(runtime_calls.differences(calls, calls), [])
        changed = [{**call, "driver": call["driver"][1:]} if call["call"] == "cudaMalloc" else call for call in calls]
        self.assertEqual([left["call"] for left, _ in runtime_calls.differences(calls, changed)], ["cudaMalloc"])

    def test_a_runtime_that_does_not_load_is_named(self):
        with self.assertRaisesRegex(ValueError, r"/nowhere\.so: expected a runtime that runs over "):
            runtime_calls.recorded(_DRIVER, os.environ["RECORDER"], "/nowhere.so")


if __name__ == "__main__":
    unittest.main()

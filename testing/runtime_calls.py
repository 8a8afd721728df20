"""Compares the calls of the driver that two libraries libcudart.so.13 make for the same calls of a program: NVIDIA's,
and its stand-in of the software GPU. NVIDIA's needs a machine with a GPU.

  python3 -m testing.runtime_calls DRIVER RECORDER RUNTIME OTHER

DRIVER is the libcuda.so.1 of the machine. RECORDER is the folder of the libcuda.so.1 that writes calls down, which the
tests build (tests/process/sidecar/recorder). Prints each call of the runtime with what either made of it. Exit status:
0 if all are the same, 1 if some differ, 2 on bad input.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_PTX = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n"
_BYTES = 1 << 16
# NVIDIA's runtime knows the current context by tables that are not documented. Its stand-in asks for it.
_LEFT_OUT = {"cuCtxGetCurrent"}
_NON_BLOCKING, _NO_TIMING, _TO_DEVICE, _TO_HOST, _GLOBAL = 1, 2, 1, 2, 0


class _Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class _Player:
    """Makes calls of a runtime, and keeps for each of them the lines that the recorder wrote meanwhile."""

    def __init__(self, runtime, record):
        self.runtime, self.record = ctypes.CDLL(runtime), record
        self.calls = []

    def call(self, name, *arguments):
        seen = self._lines()
        result = getattr(self.runtime, name)(*(ctypes.c_size_t(value) if isinstance(value, int) else value
                                               for value in arguments))
        made = [line.split()[2] for line in self._lines()[len(seen):]]
        self.calls.append({"call": name, "result": result, "driver": [one for one in made if one not in _LEFT_OUT]})

    def make(self, name, *arguments):
        """Makes a call whose first argument is a handle that it writes, and returns that."""
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *arguments)
        return handle

    def _lines(self):
        return self.record.read_text(encoding="ascii").splitlines() if self.record.exists() else []


def _play(runtime, record):
    """Makes the calls of a training step: memory, a stream, a kernel, copies, events, a graph. Returns what came of
    each."""
    player = _Player(runtime, record)
    host = ctypes.create_string_buffer(_BYTES)
    one = _Dim3(1, 1, 1)
    player.call("cudaSetDevice", 0)
    player.call("cudaFree", 0)
    memory = player.make("cudaMalloc", _BYTES)
    pinned = player.make("cudaHostAlloc", _BYTES, 0)
    stream = player.make("cudaStreamCreateWithFlags", _NON_BLOCKING)
    event = player.make("cudaEventCreateWithFlags", _NO_TIMING)
    library = player.make("cudaLibraryLoadData", _PTX, None, None, 0, None, None, 0)
    kernel = player.make("cudaLibraryGetKernel", library, b"nothing")
    for own in (None, stream):
        player.call("cudaLaunchKernel", kernel, one, one, None, 0, own)
        player.call("cudaMemsetAsync", memory, 0, _BYTES, own)
        player.call("cudaMemcpyAsync", memory, pinned, _BYTES, _TO_DEVICE, own)
        player.call("cudaEventRecord", event, own)
        player.call("cudaStreamWaitEvent", stream, event, 0)
        player.call("cudaEventSynchronize", event)
        player.call("cudaEventQuery", event)
        player.call("cudaStreamSynchronize", own)
        player.call("cudaStreamQuery", own)
    player.call("cudaLaunchKernel_ptsz", kernel, one, one, None, 0, None)
    player.call("cudaMemcpy", host, memory, _BYTES, _TO_HOST)
    player.call("cudaStreamBeginCapture", stream, _GLOBAL)
    player.call("cudaLaunchKernel", kernel, one, one, None, 0, stream)
    graph = ctypes.c_void_p()
    player.call("cudaStreamEndCapture", stream, ctypes.byref(graph))
    instance = player.make("cudaGraphInstantiate", graph, 0)
    player.call("cudaGraphLaunch", instance, stream)
    player.call("cudaDeviceSynchronize")
    for name, handle in (("cudaGraphExecDestroy", instance), ("cudaGraphDestroy", graph), ("cudaEventDestroy", event),
                         ("cudaStreamDestroy", stream), ("cudaFreeHost", pinned), ("cudaFree", memory)):
        player.call(name, handle)
    return player.calls


def recorded(driver, recorder, runtime):
    """Makes the calls in a process of their own, over the recorder. Returns [{"call", "result", "driver"}...]."""
    with tempfile.TemporaryDirectory() as directory:
        record = Path(directory) / "record"
        environment = {**os.environ, "CROSSOVER_TEST_CUDA": str(driver), "CROSSOVER_TEST_RECORD": str(record),
                       "LD_LIBRARY_PATH": f"{recorder}:{Path(driver).parent}"}
        done = subprocess.run([sys.executable, "-B", "-m", "testing.runtime_calls", "--play", str(record),
                               str(runtime)], env=environment, cwd=_ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(f"{runtime}: expected a runtime that runs over {driver}, got: {done.stderr.strip()}")
        return json.loads(done.stdout)


def differences(one, other):
    """Returns the pairs of calls of which the two made something else."""
    return [(left, right) for left, right in zip(one, other, strict=True) if left != right]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--play", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("paths", nargs="+", metavar="DRIVER RECORDER RUNTIME OTHER")
    arguments = parser.parse_args()
    if arguments.play:
        print(json.dumps(_play(arguments.paths[0], arguments.play)), flush=True)
        os._exit(0)
    if len(arguments.paths) != 4:
        parser.error(f"expected DRIVER RECORDER RUNTIME OTHER, got {len(arguments.paths)} paths")
    driver, recorder, *runtimes = arguments.paths
    try:
        one, other = (recorded(driver, recorder, runtime) for runtime in runtimes)
    except ValueError as error:
        print(f"runtime_calls: {error}", file=sys.stderr)
        return 2
    for left, right in zip(one, other, strict=True):
        print("same  " if left == right else "DIFFER", left["call"])
        for runtime, call in zip(runtimes, (left, right), strict=True):
            print(f"    {call['result']} {' '.join(call['driver'])}   ({runtime})")
    return 1 if differences(one, other) else 0


if __name__ == "__main__":
    sys.exit(main())

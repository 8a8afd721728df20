"""Runs processes that allocate GPU memory at random. Two sources say how much they have: the driver as the processes
see it, and the software GPU as another process sees it."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass

_REPORT = re.compile(r"free (\d+) total (\d+) refused (\d+)")
_NVML = """
import ctypes
class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]
nvml, device, memory = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p(), Memory()
assert nvml.nvmlInit_v2() == 0
assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device)) == 0
assert nvml.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory)) == 0
print(memory.total, memory.free, memory.used)
"""


@dataclass(frozen=True)
class Shown:
    """What NVML reports of a GPU, in bytes."""

    total: int
    free: int
    used: int


@dataclass(frozen=True)
class Churn:
    """What a process had at the end of its operations and after it freed everything, in bytes: by its driver, and in
    truth."""

    total: int
    used: int
    truth: int
    used_at_end: int
    truth_at_end: int
    refused: int
    stderr: str


class Machine:
    """One software GPU that no other process uses."""

    def __init__(self, directory, simgpu):
        config = directory / "machine.yaml"
        config.write_text(f"state: {directory}/state\nnodes:\n  - name: node0\n    gpus: 1\n", encoding="utf-8")
        self.environment = {"PATH": os.environ["PATH"], "SIMGPU_CONFIG": str(config), "LD_LIBRARY_PATH": str(simgpu)}

    def nvml(self, **extra):
        """Returns what NVML reports to a new process; `extra` adds to its environment."""
        done = subprocess.run([sys.executable, "-c", _NVML], env={**self.environment, **extra}, check=True,
                              capture_output=True, text=True, timeout=60)
        return Shown(*map(int, done.stdout.split()))

    @contextmanager
    def allocator(self, program, library, budget, threads, operations, seed, largest_kib):
        """Yields a process that has done its operations and waits."""
        extra = {"LD_PRELOAD": str(library), "CROSSOVER_GANG": "a"} if library else {}
        if budget:
            extra["CROSSOVER_GPU_MEMORY"] = budget
        command = [str(program), str(threads), str(operations), str(seed), str(largest_kib)]
        with subprocess.Popen(command, env={**self.environment, **extra}, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                yield _Allocator(process)
            finally:
                process.kill()

    def churn(self, program, library, budget, threads, operations, seed, largest_kib):
        with self.allocator(program, library, budget, threads, operations, seed, largest_kib) as process:
            free, total, refused = process.report
            truth = self.nvml().used
            (free_at_end, _, _), stderr = process.end()
            return Churn(total, total - free, truth, total - free_at_end, self.nvml().used, refused, stderr)


class _Allocator:

    def __init__(self, process):
        self._process = process
        self.report = self._read()

    def _read(self):
        line = self._process.stdout.readline()
        found = _REPORT.match(line)
        if found is None:
            raise RuntimeError(f"the allocator said '{line}': {self._process.stderr.read()}")
        return tuple(map(int, found.groups()))

    def end(self):
        """Lets the process free everything and end. Returns its last report and its standard error."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        report = self._read()
        stderr = self._process.communicate()[1]
        if self._process.returncode != 0:
            raise RuntimeError(f"the allocator ended with {self._process.returncode}: {stderr}")
        return report, stderr

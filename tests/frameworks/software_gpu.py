"""Runs unmodified PyTorch on the software GPU: one machine of two GPUs, an arbiter where asked for, and jobs under
torchrun."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.ports import free_port
from benchmarks.processes import dying_with_parent

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD") or TOP / "build" / "dev")
LIBRARY = BUILD / "lib" / "libcrossover.so"
ARBITER = BUILD / "bin" / "crossover-arbiter"
DRIVER = BUILD / "simgpu" / "lib"
STAND_INS = BUILD / "simgpu" / "stand_ins" / "lib"
RECORDER = BUILD / "tests" / "process" / "sidecar" / "recorder"
CACHE = Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover") / "torch-1"
PYTHON = CACHE / "bin" / "python"
SITE = CACHE / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
JOBS = TOP / "tests" / "frameworks" / "jobs"
PATIENCE_S = 600


def require(test):
    """Fails the test, with a hint, if something was not built or installed."""
    needed = ((PYTHON, "tools/install.sh --torch"), (LIBRARY, "build crossover_sidecar"),
              (ARBITER, "build crossover-arbiter"), (DRIVER / "libcuda.so.1", "build the software GPU"),
              (STAND_INS / "libcublas.so.13", "build simgpu_stand_ins"),
              (RECORDER / "libcuda.so.1", "build sidecar_recorder"))
    for path, how in needed:
        if not path.exists():
            test.fail(f"no {path}: {how}")


class Machine:
    """A software machine of one node with two GPUs, in a directory of its own, which the caller removes. The speed of
    its links makes a job's communication about as long as its computation where `kernel_scale` is 40. Without
    `effects`, kernels of PyTorch leave memory as it is."""

    def __init__(self, directory, kernel_scale=1, effects=True):
        self.directory = Path(directory)
        self.socket = self.directory / "arbiter.sock"
        self.trace = self.directory / "trace.jsonl"
        config = self.directory / "machine.yaml"
        config.write_text(f"state: {self.directory}/state\nkernel_scale: {kernel_scale}\n"
                          f"kernel_effects: {str(effects).lower()}\n"
                          "node_link_bytes_per_s: 100e6\ngpu_link_bytes_per_s: 100e6\n"
                          "nodes:\n  - name: node0\n    gpus: 2\n", encoding="utf-8")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C.UTF-8",
                            "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "SIMGPU_CONFIG": str(config),
                            "LD_LIBRARY_PATH": f"{STAND_INS}:{DRIVER}"}

    def start_arbiter(self, test):
        """Starts an arbiter that ends with the test. Returns when it listens."""
        command = dying_with_parent([str(ARBITER), "--socket", str(self.socket), "--trace", str(self.trace)])
        arbiter = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        test.addCleanup(_end, arbiter)
        for line in arbiter.stderr:
            if "listening" in line:
                return
        test.fail(f"{ARBITER} ended with {arbiter.wait()}")

    def run(self, *command):
        """Runs a Python program to its end, without the library. Returns the finished process."""
        return subprocess.run([str(word) for word in (PYTHON, *command)], env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def start(self, job, script, *options, library=False):
        """Starts a job of two ranks under torchrun. Returns its launcher's process."""
        environment = self.environment | {"CROSSOVER_TEST_RECORD": f"{self.directory}/{job}.calls.",
                                          "CROSSOVER_TEST_CUDA": f"{DRIVER}/libcuda.so.1",
                                          "LD_LIBRARY_PATH": f"{RECORDER}:{STAND_INS}:{DRIVER}"}
        if library:
            environment |= {"LD_PRELOAD": str(LIBRARY), "CROSSOVER_GANG": job, "CROSSOVER_GANG_SIZE": "2",
                            "CROSSOVER_SOCKET": str(self.socket), "CROSSOVER_LOG": "info"}
        command = [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={free_port()}",
                   JOBS / script, *options]
        with open(self.directory / f"{job}.log", "wb") as output:
            return subprocess.Popen(dying_with_parent([str(word) for word in command]), env=environment,
                                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def finish(self, job, process):
        """Waits for a job. Returns what it said. A job that does not end well is an AssertionError."""
        status = process.wait(PATIENCE_S)
        said = (self.directory / f"{job}.log").read_text(encoding="utf-8")
        if status != 0:
            raise AssertionError(f"{job} ended with {status}: {said}")
        return said

    def turns(self):
        """Returns {job: number of turns that it has held}."""
        if not self.trace.exists():
            return {}
        events = (json.loads(line) for line in self.trace.read_text(encoding="utf-8").splitlines())
        return collections.Counter(event["gang"] for event in events if event["event"] == "hold")

    def record(self, job, rank):
        """Returns the file in which the driver's calls of a rank are recorded."""
        return self.directory / f"{job}.calls.{rank}"


def _end(process):
    process.kill()
    process.wait()
    process.stderr.close()

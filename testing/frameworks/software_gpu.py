"""Runs unmodified PyTorch on the software GPU: one machine of two GPUs, an arbiter where asked for, and jobs under
torchrun."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

from testing.commands import Build, daemon_command, daemon_config
from testing.frameworks import family
from testing.frameworks.patterns import Needs
from testing.ports import free_port

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("BUILD") or TOP / "build" / "dev")
BUILT = Build(BUILD)
DRIVER, STAND_INS = BUILT.gpu_libraries, BUILT.stand_ins
_CACHES = Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover")
CACHE = _CACHES / "torch-1"
PYTHON = CACHE / "bin" / "python"
PYTHONS = {Needs.TORCH: PYTHON, Needs.FRAMEWORKS: _CACHES / "torch-frameworks-1" / "bin" / "python",
           Needs.JAX: _CACHES / "jax-1" / "bin" / "python"}
SITE = CACHE / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
JOBS = TOP / "testing" / "frameworks" / "jobs"
PATIENCE_S = 600


def missing(build=BUILT, needs=Needs.TORCH):
    """Returns what was not built or installed for scripts that import `needs`, with a hint how to."""
    needed = ((PYTHONS[needs], f"tools/install.sh {needs.value}"), (build.native_library, "build crossover_sidecar"),
              (build.daemon, "build crossover-deviceplugin"),
              (build.gpu_libraries / "libcuda.so.1", "build the software GPU"),
              (build.stand_ins / "libcublas.so.13", "build simgpu_stand_ins"),
              (build.recorder / "libcuda.so.1", "build sidecar_recorder"))
    return [f"no {path}: {how}" for path, how in needed if not path.exists()]


def require(test, needs=Needs.TORCH):
    """Fails the test, with a hint, if something was not built or installed."""
    for what in missing(needs=needs):
        test.fail(what)


def torchrun(gpus, options=(), python=PYTHON):
    """Returns the command line, but for the script, that runs a script with a rank for each GPU."""
    return [python, "-m", "torch.distributed.run", f"--nproc-per-node={gpus}", f"--master-port={free_port()}", *options]


class Machine:
    """A software machine of one node, in a directory of its own, which the caller removes after close(). The usual
    speed of its links makes a job's communication about as long as its computation where `kernel_scale` is 40. Without
    `effects`, kernels of PyTorch leave memory as it is. `options` are more lines of the machine's YAML. All programs
    are those of `build`."""

    def __init__(self, directory, kernel_scale=1, effects=True, build=BUILT, memory_mib=80 * 1024, links="shared",
                 link_bytes_per_s=100e6, gpus=2, options=()):
        self.build = build
        self.gpus = gpus
        self.directory = Path(directory)
        self.socket = self.directory / "arbiter.sock"
        self.trace = self.directory / "trace.jsonl"
        self._running = []
        config = self.directory / "machine.yaml"
        config.write_text(f"state: {self.directory}/state\nkernel_scale: {kernel_scale}\n"
                          f"kernel_effects: {str(effects).lower()}\n"
                          f"link_sharing: {links}\n"
                          f"node_link_bytes_per_s: {link_bytes_per_s}\ngpu_link_bytes_per_s: {link_bytes_per_s}\n"
                          + "".join(f"{line}\n" for line in options)
                          + "nodes:\n  - name: node0\n    gpus:\n"
                          + gpus * f"      - {{memory_mib: {memory_mib}}}\n", encoding="utf-8")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C.UTF-8",
                            "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "SIMGPU_CONFIG": str(config),
                            "LD_LIBRARY_PATH": f"{build.stand_ins}:{build.gpu_libraries}"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends the arbiter and all jobs with their ranks. They also end when this process dies."""
        for process in self._running:
            process.terminate()
        for process in self._running:
            process.wait()
            if process.stderr:
                process.stderr.close()
        self._running.clear()

    def start_arbiter(self, settings=()):
        """Starts an arbiter with these lines of configuration. Returns when it listens. One that ends instead is an
        AssertionError."""
        config = self.directory / "daemon.yaml"
        config.write_text(daemon_config(self.socket, self.trace, settings), encoding="utf-8")
        command = daemon_command(self.build, config)
        arbiter = self._start(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in arbiter.stderr:
            if "listening" in line:
                return
        raise AssertionError(f"{command[0]} ended with {arbiter.wait()}")

    def run(self, *command):
        """Runs a Python program to its end, without the library. Returns the finished process."""
        return subprocess.run([str(word) for word in (PYTHON, *command)], env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False)

    def start(self, job, script, *options, library=False, launcher=(), environment=(), settings=(), recorded=True,
              runner=torchrun):
        """Starts a job with a rank for each GPU under `runner`, which gets the options `launcher`, with more of the
        user's environment. `library` is the file of the library, or True for that of this build; `settings` are
        variables that it reads. The driver's calls are recorded, or not. Returns its launcher's process."""
        variables = self.environment | dict(environment)
        if recorded:
            variables |= {"CROSSOVER_TEST_RECORD": f"{self.directory}/{job}.calls.",
                          "CROSSOVER_TEST_CUDA": f"{self.build.gpu_libraries}/libcuda.so.1",
                          "LD_LIBRARY_PATH": f"{self.build.recorder}:{self.environment['LD_LIBRARY_PATH']}"}
        if library:
            file = self.build.native_library if library is True else library
            variables |= {"LD_PRELOAD": str(file), "CROSSOVER_GANG": job, "CROSSOVER_GANG_SIZE": str(self.gpus),
                          "CROSSOVER_SOCKET": str(self.socket), "CROSSOVER_LOG": "info", **dict(settings)}
        command = [*runner(self.gpus, launcher), JOBS / script, *options]
        with open(self.directory / f"{job}.log", "wb") as output:
            return self._start(command, env=variables, stdout=output, stderr=subprocess.STDOUT)

    def _start(self, command, **popen):
        process = subprocess.Popen(family.within(command), stdin=subprocess.DEVNULL, **popen)
        self._running.append(process)
        return process

    def said(self, job):
        """Returns what a job has said so far."""
        return (self.directory / f"{job}.log").read_text(encoding="utf-8")

    def finish(self, job, process):
        """Waits for a job. Returns what it said. A job that does not end well is an AssertionError."""
        status = process.wait(PATIENCE_S)
        said = self.said(job)
        if status != 0:
            raise AssertionError(f"{job} ended with {status}: {said}")
        return said

    def turns(self):
        """Returns {job: number of turns that it has held}."""
        if not self.trace.exists():
            return collections.Counter()
        events = (json.loads(line) for line in self.trace.read_text(encoding="utf-8").splitlines())
        return collections.Counter(event["gang"] for event in events if event["event"] == "hold")

    def record(self, job, rank):
        """Returns the file in which the driver's calls of a rank are recorded."""
        return self.directory / f"{job}.calls.{rank}"


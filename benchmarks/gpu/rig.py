"""Gives a part the GPU that it runs on: a real GPU, or the software GPU in its place. The parts do not know which."""

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.gpu import children
from benchmarks.gpu.children import Cannot

COLLECTIVE_CTAS = 4
_STAND_IN = "libnccl.so.2"
_FIRST_CLIENT_S = 60  # until the first client of MPS has a server, on a machine whose driver starts slowly
# These must not come from the caller's shell: they would change what is measured.
_SCRUBBED = ("LD_PRELOAD", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY", "CUDA_LAUNCH_BLOCKING",
             "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_VISIBLE_DEVICES", "NCCL_MAX_CTAS", "NCCL_MIN_CTAS")


@dataclass
class Rig:
    """Holds what a part runs on. `software`: the software GPU of the build stands in the driver's place. `quick`: runs
    are short and show only that all works; they give no figure. `python` is the interpreter that has PyTorch."""

    build: Path
    work: Path
    software: bool = False
    quick: bool = False
    python: str = "python3"
    say: object = print
    facts: dict = field(default_factory=dict)  # the answer of gpu_probe info

    @property
    def where(self):
        return "software GPUs" if self.software else self.facts.get("name", "an NVIDIA GPU")

    def pick(self, real, quick):
        """Returns a length or a count: `quick` where the run only shows that all works, else `real`."""
        return quick if self.quick else real

    def program(self, name):
        return self.build / "bin" / name

    @property
    def library(self):
        return self.build / "lib" / "libcrossover.so"

    @property
    def software_libraries(self):
        return self.build / "simgpu" / "lib"

    def fresh(self, name):
        """Makes a new empty directory and returns its path."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.work))

    def stand_in(self):
        """Returns a directory with the stand-in for NCCL and nothing else: a driver beside it would be found, too."""
        directory = self.work / "nccl"
        directory.mkdir(exist_ok=True)
        if not (directory / _STAND_IN).exists():
            (directory / _STAND_IN).symlink_to(self.software_libraries / _STAND_IN)
        return directory

    def environment(self, **more):
        """Returns the environment of a program that uses the GPU. `more` overrides it."""
        base = {name: value for name, value in os.environ.items()
                if name not in _SCRUBBED and not name.startswith(("CROSSOVER_", "SIMGPU_"))}
        paths = [str(self.software_libraries)] if self.software else []
        paths += [path for path in (more.pop("LD_LIBRARY_PATH", ""), base.get("LD_LIBRARY_PATH", "")) if path]
        base["LD_LIBRARY_PATH"] = ":".join(str(path) for path in paths)
        if self.facts.get("loops_per_us"):
            base["GPU_LOOPS_PER_US"] = str(self.facts["loops_per_us"])
        if self.software:
            base |= {"SIMGPU_MACHINE": "1x1", "SIMGPU_STATE": str(self.work / "machine")}
        return base | {name: str(value) for name, value in more.items()}

    def with_library(self, socket, gang, size=1):
        """Returns the variables that load the library into a program."""
        return {"LD_PRELOAD": self.library, "CROSSOVER_SOCKET": socket, "CROSSOVER_GANG": gang,
                "CROSSOVER_GANG_SIZE": size}

    def probe(self, *arguments, timeout_s=60, preexec=None, **environment):
        """Returns the answer of gpu_probe. Raises Cannot where it fails."""
        return children.answer([self.program("gpu_probe"), *arguments], self.environment(**environment), timeout_s,
                               preexec)

    def start_arbiter(self, directory, *flags):
        """Starts an arbiter of its own and returns (service, socket). The arbiter is no client of the GPU."""
        socket = directory / "arbiter.sock"
        command = [self.program("crossover-arbiter"), "--socket", socket, "--trace", directory / "trace.jsonl", *flags]
        service = children.start_service(command, self.environment(), directory / "arbiter.log", socket.exists)
        return service, socket

    def find_out(self):
        """Fills `facts` and returns them. Raises Cannot where no program can use the GPU."""
        self.facts = self.probe("info")
        return self.facts


class Mps:
    """Runs MPS's daemon with directories of its own, as a context. The part that wants it starts and stops it. The
    GPU's settings stay as they are. `environment` is that of its clients. Entering it raises Cannot where there is no
    MPS, or where it serves no client."""

    def __init__(self, rig, directory, *flags):
        self.rig, self.directory, self.flags = rig, directory, flags
        self.environment = {"CUDA_MPS_PIPE_DIRECTORY": directory / "pipe", "CUDA_MPS_LOG_DIRECTORY": directory / "log"}
        self._program = None

    def __enter__(self):
        program = self.rig.program("nvidia-cuda-mps-control") if self.rig.software else shutil.which(
            "nvidia-cuda-mps-control")
        if not program or not Path(program).exists():
            raise Cannot("no nvidia-cuda-mps-control on this machine")
        for name in ("pipe", "log"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        self._program = program
        self.daemon = children.start_service([program, "-f", *self.flags], self._own(), self.directory / "control.txt",
                                             (self.directory / "pipe" / "control").exists)
        try:  # the control daemon may run and have no server that can start
            self.rig.probe("info", timeout_s=_FIRST_CLIENT_S, **self.environment)
        except Cannot as reason:
            self.stop()
            raise Cannot(f"MPS runs and serves no client: {reason}") from reason
        return self

    def __exit__(self, *exc):
        self.stop()

    def ask(self, words, timeout_s=10):
        done = subprocess.run([self._program], input=words + "\n", env=self._own(), capture_output=True, text=True,
                              timeout=timeout_s, check=False)
        return done.stdout

    def stop(self):
        """Asks the daemon to quit, which also ends its servers. Ends it by force where it does not."""
        if self.daemon.alive():
            try:
                self.ask("quit", 8)
                self.daemon.process.wait(8)
            except (subprocess.TimeoutExpired, OSError):
                pass
        children.stop_service(self.daemon)

    def _own(self):
        return self.rig.environment(**self.environment)


def sweep_mps(rig, patience_s=5.0):
    """Stops MPS daemons of parts that were killed before they could: by their pipes, then by their process IDs."""
    for pipe in rig.work.glob("**/pipe"):
        recorded = pipe / "nvidia-cuda-mps-control.pid"
        if not recorded.exists():
            continue
        try:
            pid = int(recorded.read_text())
            comm = Path(f"/proc/{pid}/comm").read_text().strip()
        except (ValueError, OSError):
            continue
        if not comm.startswith("nvidia-cuda-mps"):
            continue
        mps = Mps(rig, pipe.parent)
        mps._program = shutil.which("nvidia-cuda-mps-control")
        try:
            if mps._program:
                mps.ask("quit", patience_s)
        except (subprocess.TimeoutExpired, OSError):
            pass
        end = time.monotonic() + patience_s
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            time.sleep(0.05)
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, 9)

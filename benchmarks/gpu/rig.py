"""Gives a part the GPU that it runs on: a real GPU, or the software GPU in its place. The parts do not know which."""

import contextlib
import os
import shutil
import socket
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
_SCRUBBED = ("LD_PRELOAD", "CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_VISIBLE_DEVICES",
             "CUDA_MODULE_LOADING", "CUDA_CACHE_DISABLE", "CUDA_FORCE_PTX_JIT", "GPU_STREAM", "NCCL_MAX_CTAS",
             "NCCL_MIN_CTAS")
_SCRUBBED_PREFIXES = ("CROSSOVER_", "SIMGPU_", "CUDA_MPS_")
# A driver that is mounted into a machine has its programs here, and its libraries beside them.
_DRIVER_PROGRAMS = ("/usr/local/nvidia/bin", "/usr/local/nvidia/sbin", "/opt/nvidia/bin")
_DEFAULT_PIPES = "/tmp/nvidia-mps"
_PUBLIC = 0o755


@dataclass
class Rig:
    """Holds what a part runs on. `software`: the software GPU of the build stands in the driver's place. `quick`: runs
    are short and show only that all works; they give no figure. `python` is the interpreter that has PyTorch."""

    build: Path
    work: Path
    disk: Path  # as `work`, but not in /dev/shm
    software: bool = False
    quick: bool = False
    python: str = "python3"
    say: object = print
    facts: dict = field(default_factory=dict)  # the answer of gpu_probe info
    simgpu_machine: str = ""  # options that every program of the software GPU gets
    simgpu_fault: str = ""

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

    def fresh_on_disk(self, name):
        """Does the same, in a place that a tmpfs at /dev/shm does not hide."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.disk))

    def _made(self, name):
        directory = self.work / name
        if not directory.exists():
            directory.mkdir()
            directory.chmod(0o777)
        return directory

    def stand_in(self):
        """Returns a directory with the stand-in for NCCL and nothing else: a driver beside it would be found, too."""
        directory = self.work / "nccl"
        directory.mkdir(exist_ok=True)
        if not (directory / _STAND_IN).exists():
            (directory / _STAND_IN).symlink_to(self.software_libraries / _STAND_IN)
        return directory

    def for_everybody(self, name):
        """Copies a program to a place where other users may run it, with the software GPU's driver if need be: the
        build may be in a folder that only its owner enters. Returns (program, variables)."""
        place = self.disk / "for_everybody"  # /dev/shm may forbid programs
        place.mkdir(exist_ok=True)
        place.chmod(_PUBLIC)
        driver = [self.software_libraries / "libcuda.so.1"] if self.software else []
        for file in (self.program(name), *driver):
            if not (place / file.name).exists():
                shutil.copy(file, place / file.name)
                (place / file.name).chmod(_PUBLIC)
        return place / name, {"LD_LIBRARY_PATH": place} if driver else {}

    def environment(self, **more):
        """Returns the environment of a program that uses the GPU. `more` overrides it. Without MPS in `more`, the
        program meets no control daemon, whatever runs on the machine."""
        base = {name: value for name, value in os.environ.items()
                if name not in _SCRUBBED and not name.startswith(_SCRUBBED_PREFIXES)}
        base["PATH"] = ":".join((base.get("PATH", os.defpath), *_DRIVER_PROGRAMS))
        base["CUDA_MPS_PIPE_DIRECTORY"] = str(self._made("no-mps"))
        base["CUDA_CACHE_PATH"] = str(self._made("compiled"))  # PTX is compiled once, not by each process
        paths = [str(self.software_libraries)] if self.software else []
        paths += [path for path in (more.pop("LD_LIBRARY_PATH", ""), base.get("LD_LIBRARY_PATH", "")) if path]
        base["LD_LIBRARY_PATH"] = ":".join(str(path) for path in paths)
        if self.facts.get("loops_per_us"):
            base["GPU_LOOPS_PER_US"] = str(self.facts["loops_per_us"])
        if self.software:
            base |= {"SIMGPU_MACHINE": "1x1", "SIMGPU_STATE": str(self.work / "machine")}
        whole = base | {name: str(value) for name, value in more.items()}
        for name, option in (("SIMGPU_MACHINE", self.simgpu_machine), ("SIMGPU_FAULT", self.simgpu_fault)):
            if self.software and option:
                whole[name] = ",".join(filter(None, (whole.get(name), option)))
        return whole

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

    def kernel_faults(self):
        """Returns how many faults (Xids) the driver has reported to the kernel's log, or None where that may not be
        read."""
        try:
            done = subprocess.run(["dmesg"], capture_output=True, text=True, timeout=20, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.count("NVRM: Xid")

    def find_out(self):
        """Fills `facts` and returns them. Raises Cannot where no program can use the GPU."""
        self.facts = self.probe("info")
        return self.facts


def daemon_of_the_machine(environ=os.environ):
    """Returns the pipe directory of a control daemon of MPS that runs already, where programs find it by default, or
    "". Programs of this suite do not meet it."""
    directory = environ.get("CUDA_MPS_PIPE_DIRECTORY") or _DEFAULT_PIPES
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        try:
            probe.connect(f"{directory}/control")
        except OSError:  # a socket that nothing listens to is left behind by older daemons
            return ""
    return directory


def mps_program(rig):
    """Returns the path of MPS's control program. Raises Cannot where there is none."""
    places = str(rig.build / "bin") if rig.software else rig.environment()["PATH"]
    found = shutil.which("nvidia-cuda-mps-control", path=places)
    if not found:
        raise Cannot(f"no nvidia-cuda-mps-control on this machine: it is not in {places}")
    return found


class Mps:
    """Runs MPS's daemon with directories of its own, as a context. The part that wants it starts and stops it. The
    GPU's settings stay as they are. `environment` is that of its clients. Entering it raises Cannot where there is no
    MPS, or where it serves no client."""

    def __init__(self, rig, directory, *flags):
        self.rig, self.directory, self.flags = rig, directory, flags
        self.environment = {"CUDA_MPS_PIPE_DIRECTORY": directory / "pipe", "CUDA_MPS_LOG_DIRECTORY": directory / "log"}
        self._program = None

    def __enter__(self):
        program = mps_program(self.rig)
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

    @classmethod
    def of(cls, rig, environment):
        """Returns the MPS of clients with this environment, to ask it. Another part of the program runs it."""
        mps = cls(rig, Path(environment["CUDA_MPS_PIPE_DIRECTORY"]).parent)
        mps._program = mps_program(rig)
        return mps

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
    for pipe in (*rig.work.glob("**/pipe"), *rig.disk.glob("**/pipe")):
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
        with contextlib.suppress(subprocess.TimeoutExpired, OSError, Cannot):
            mps._program = mps_program(rig)
            mps.ask("quit", patience_s)
        end = time.monotonic() + patience_s
        while Path(f"/proc/{pid}").exists() and time.monotonic() < end:
            time.sleep(0.05)
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, 9)

"""Builds the command lines and files of the programs under measurement. No other module knows their flags."""

import platform
import re
from dataclasses import dataclass, field
from pathlib import Path

from testing.processes import Failed

_TREE = Path(__file__).resolve().parents[1]
# Files of a build directory in which one program is of an older revision.
OLDER_RIGHTS, UNKNOWN_KEYS = "older_rights", "unknown_keys"


@dataclass(frozen=True)
class Build:
    """Finds in a build directory what a session needs."""

    top: Path

    @property
    def trainer(self):
        return self._program("trainer")

    @property
    def daemon(self):
        return self._program("crossover-deviceplugin")

    @property
    def cli(self):
        return self._program("crossover")

    @property
    def library(self):
        """The library that ships, if it was built; else the one that this machine's compiler made."""
        return self._first([self.portable_library(platform.machine()), self.native_library])

    @property
    def native_library(self):
        """The library from the same sources, made by this machine's own compiler."""
        return self.top / "lib" / "libcrossover.so"

    @property
    def shrink_library(self):
        """Names the library that narrows reductions."""
        return self.top / "lib" / "libcrossover-shrink.so"

    def portable_library(self, architecture):
        """Returns the library that ships."""
        return self.top / "portable" / architecture / "libcrossover.so"

    def known_bad(self, name):
        """Returns a test library with one planted fault, libcrossover_<name>.so."""
        file = _KNOWN_BAD_PREFIX + f"{name}.so"
        return self._first([f"lib/{file}", f"sidecar/{file}", f"tests/process/sidecar/{file}"])

    def test_library(self, name, place="tests/process/sidecar"):
        """Returns a library that the tests build and preload."""
        return self._first([f"{place}/lib{name}.so"])

    @property
    def gpu_libraries(self):
        """The directory of the software GPU's libcuda.so.1 and libnccl.so.2, for the loader."""
        return self.top / "simgpu" / "lib"

    @property
    def stand_ins(self):
        """The directory of the stand-ins for the libraries of NVIDIA's that PyTorch is linked with."""
        return self.top / "simgpu" / "stand_ins" / "lib"

    @property
    def recorder(self):
        """The directory of a libcuda.so.1 that records calls and passes them to the software GPU's."""
        return self.top / "tests" / "process" / "sidecar" / "recorder"

    def program(self, name):
        return self._program(name)

    def configured(self, name):
        """Returns a variable of the build's configuration. Raises Failed if it has none."""
        cache = self.top / "CMakeCache.txt"
        found = re.search(rf"^{name}:\w+=(.+)$", cache.read_text(encoding="utf-8") if cache.exists() else "",
                          re.MULTILINE)
        if found is None:
            raise Failed(f"{cache}: expected a line {name}:TYPE=VALUE, got none")
        return found.group(1)

    @property
    def rights(self):
        """The directory of what the programs may do (manifests/rbac). If one of them is of an older revision, it is
        that revision's: today's rights would not suffice for it."""
        older = self.top / OLDER_RIGHTS
        return older if older.exists() else _TREE / "manifests" / "rbac"

    @property
    def unknown_keys(self):
        """The keys of configurations, such as "webhook.shm", that the programs do not know, as one of them is older."""
        file = self.top / UNKNOWN_KEYS
        return file.read_text(encoding="ascii").split() if file.exists() else []

    def missing(self):
        """Returns the files that a session needs and that do not exist."""
        needed = [self.trainer, self.daemon, self.cli, self.library]
        needed += [self.gpu_libraries / name for name in ("libcuda.so.1", "libnccl.so.2")]
        return [str(p) for p in needed if not p.exists()]

    def _program(self, name):
        return self._first([f"bin/{name}"])

    def _first(self, places):
        candidates = [self.top / place for place in places]
        return next((c for c in candidates if c.exists()), candidates[0])


_KNOWN_BAD_PREFIX = "libcrossover_"
# This is how many bytes one iteration all-reduces: enough that the link's bandwidth matters in every ring step, and few
# enough that the arithmetic costs nothing.
GRADIENT_BYTES = 32768
_LARGEST_LAYER, _LAYERS = 64 * 48 + 48, 5  # parameters; examples/trainer/model.h
_UNITS_ON_THE_WIRE = 3 * _LAYERS  # examples/trainer/shards.h
_PARAMETERS = 7434  # examples/trainer/model.h


def sharded_bytes(ranks):
    """Returns the bytes of an all-reduce that takes as long as all collectives of an iteration of a sharded job."""
    floats = max(_LARGEST_LAYER, 2 * GRADIENT_BYTES // 4 // _UNITS_ON_THE_WIRE)
    unit = -(-floats // ranks) * ranks
    return unit * 4 * _UNITS_ON_THE_WIRE // 2


def experts_bytes(gradient_bytes, ranks, nodes):
    """Returns the bytes of an all-reduce that takes as long as all collectives of an iteration of a job with experts:
    its exchanges, of which each rank keeps its own part and sends the others, and the all-reduce of its gradients."""
    per_node = ranks // nodes
    crossing = gradient_bytes * per_node * (ranks - per_node) / ranks
    return crossing * ranks / (2 * (ranks - 1)) + 4 * _PARAMETERS


@dataclass(frozen=True)
class Job:
    """One training job, as the trainer takes it."""

    name: str
    seed: int = 1
    compute_ms: float = 20.0
    iterations: int = 150
    variant: str = "plain"
    jitter: float = 0.0
    early_bytes: float = 0.02
    start_delay_s: float = 0.0
    gradient_bytes: int = GRADIENT_BYTES
    priority: str = ""  # of its turns: high, normal or low
    max_slowdown: float = 0  # 0: none
    gang: str = ""  # if it is not the name: a job that is started again
    extra: tuple = ()
    environment: dict = field(default_factory=dict, hash=False)
    environment_rank: int = None  # the only rank with that environment; None: all
    unhooked_rank: int = None  # the rank that runs without the library
    user: int = None  # ID of the user that its processes run as; None: that of this process


def trainer_command(build, job, log):
    """Returns the command of one rank of a job. The rank's place comes from the environment."""
    return [str(build.trainer), f"--variant={job.variant}", f"--iterations={job.iterations}",
            f"--compute-ms={job.compute_ms:g}", f"--gradient-bytes={job.gradient_bytes}",
            f"--early-bytes={job.early_bytes:g}", f"--jitter={job.jitter:g}", f"--jitter-seed={job.seed}",
            f"--seed={job.seed}", f"--log={log}", *job.extra]


def shared_command(build, job, ranks, library, command):
    """Returns `command`, changed to run as a member of a gang that takes turns."""
    wishes = ["--priority", job.priority] if job.priority else []
    if job.max_slowdown:
        wishes += ["--max-slowdown", f"{job.max_slowdown:.3f}"]
    return [str(build.cli), "run", "--gang", job.gang or job.name, "--size", str(ranks), *wishes, "--library",
            str(library), "--", *command]


def preloading(libraries, command):
    """Returns `command`, changed to preload these libraries in this order and no others."""
    return ["env", f"LD_PRELOAD={':'.join(map(str, libraries))}", *command]


def daemon_command(build, config):
    return [str(build.daemon), "--standalone", "--config", str(config)]


def signaller_command(build, gpu, socket, no_mps, program="crossover-signaller"):
    """Returns the command of a signaller. `no_mps` is an empty folder."""
    return [str(build.program(program)), "--gpu", gpu, "--socket", str(socket), "--no-mps", str(no_mps)]


def mps_command(build, *options):
    """Returns the command of MPS's control daemon, or without options that of the program that sends it lines."""
    return [str(build.program("nvidia-cuda-mps-control")), *options]


def as_user(user, command):
    """Returns `command`, changed to run as this user and its group alone. None: as the user of this process."""
    if user is None:
        return command
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--", *command]


def top_command(build, api_socket):
    return [str(build.cli), "top", "-o", "json", "--socket", str(api_socket)]


def is_known_bad(library):
    return library is not None and library.name.startswith(_KNOWN_BAD_PREFIX)


def daemon_config(socket, trace, settings=()):
    """Returns the node daemon's configuration: where it listens, and where it writes its trace."""
    lines = ["socket:", f"  path: {socket}", f"trace_file: {trace}", *settings]
    if not any(line.startswith("profiles:") for line in settings):
        # The profiles that one run learns must not help the next run.
        lines.append("profiles: off")
    return "\n".join(lines) + "\n"


def rank_environment(machine, rank, address, port):
    """Returns the environment variables that torchrun sets for a rank."""
    node, gpu = machine.place(rank)
    return {"RANK": str(rank), "WORLD_SIZE": str(machine.ranks), "LOCAL_RANK": str(gpu), "MASTER_ADDR": address,
            "MASTER_PORT": str(port), "SIMGPU_NODE": str(node)}

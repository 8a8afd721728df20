"""Runs a job of tests/process/shrink/rank.cc: a process for each rank, on a software machine of one node or several."""

import os
import signal
import socket
import struct
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path

from testing.processes import Failed, await_true, dying_with_parent

_PLACE = "tests/process/shrink"
PATIENCE_S = 120
TAIL_AT, ID_BYTES = 96, 128
MAGIC, VERSION = 0x5456534F, 2
TAIL_MAGIC, TAIL_VERSION = 0x4C544F43, 1
GREETING, HELLO, VERDICT = 1, 2, 4
BUILD = 1  # of the library that the ranks load, unless they are told another


@dataclass(frozen=True)
class RankSettings:
    """Says what one rank brings. `file` is the library that it loads: `faulty`, which the tests make, `both`, that one
    in front of libcrossover.so, `shipped`, `none`, or `missing`: a name without a file, in front of libcrossover.so."""

    file: str = "faulty"
    shrink: str = "bf16"
    at: str = ""  # MOMENT:ACTION of tests/process/shrink/faulty_agreement.cc
    limits: str = ""  # milliseconds: collector, greeting, verdict, linger
    environment: dict = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Ended:
    """Says how a rank ended: its exit code, the lines that it said, and its standard error."""

    code: int
    lines: tuple
    errors: str

    def sums(self):
        """Returns how its reductions came out, those that did: {"narrow"}, {"plain"}, both, or none."""
        return {line.split()[1] for line in self.lines if line.split()[0] == "sum" and line.endswith(" 0")}


class Job:
    """A context manager that ends all ranks at its exit. `nodes` has the node of each rank, by default one for all.
    `faulty` has libraries that ranks load in place of the one of this name."""

    def __init__(self, build, folder, ranks=2, scenario="sum", nodes=(), faulty=()):
        self.build, self.folder, self.ranks, self.scenario = build, Path(folder), ranks, scenario
        self.nodes = tuple(nodes) or (0,) * ranks
        self._faulty = list(faulty) or [self.file("libshrink_faulty.so")]
        self._running, self._said, self._readers, self._errors, self._machine = {}, {}, {}, {}, None

    def __enter__(self):
        nodes = "".join("  - gpus:\n" + "      - {memory_mib: 4096}\n" * self.nodes.count(node)
                        for node in range(max(self.nodes) + 1))
        self._machine = self.folder / "machine.yaml"
        self._machine.write_text(f"state: {self.folder}/state\nnodes:\n{nodes}", encoding="ascii")
        return self

    def __exit__(self, *exc):
        for process in self._running.values():
            process.kill()
            process.wait()
        for reader in self._readers.values():
            reader.join()
        for errors in self._errors.values():
            errors.close()

    @property
    def ids(self):
        """The file in which rank 0 leaves the unique ID."""
        return self.folder / "ids"

    def file(self, name):
        return self.build.top / _PLACE / name

    def start(self, rank, settings=RankSettings(), ids=None):
        """Starts a rank. `ids` is the file from which it reads the unique ID, if that is not the one of rank 0."""
        libraries = {"faulty": self._faulty, "both": [*self._faulty, self.build.native_library],
                     "shipped": [self.build.shrink_library], "none": [],
                     "missing": [self.folder / self.build.shrink_library.name, self.build.native_library]}
        preload = [*libraries[settings.file], self.file("libshrink_host_kernels.so")]
        errors = open(self.folder / f"errors.{rank}", "w+b")
        self._errors[rank] = errors
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("SIMGPU_", "CUDA_", "NCCL_", "CROSSOVER_", "SHRINK_TEST_"))}
        env.update(LD_LIBRARY_PATH=str(self.build.gpu_libraries), LD_PRELOAD=":".join(map(str, preload)),
                   SIMGPU_CONFIG=str(self._machine), NCCL_DEBUG="WARN",
                   CUDA_VISIBLE_DEVICES=str(self.nodes[:rank].count(self.nodes[rank])),
                   NCCL_SOCKET_IFNAME="lo", CROSSOVER_SHRINK=settings.shrink,
                   CROSSOVER_SHRINK_BUDGET_MIB="1", CROSSOVER_SHRINK_IMAGE=str(self.file("host_kernels.image")),
                   SHRINK_TEST_AT=settings.at, SIMGPU_NODE=str(self.nodes[rank]),
                   NCCL_HOSTID=f"node{self.nodes[rank]}",
                   SHRINK_TEST_TOPOLOGY=f"{len(set(self.nodes))}x{self.ranks // len(set(self.nodes))}")
        if settings.limits:
            env["SHRINK_TEST_LIMITS"] = settings.limits
        env.update(settings.environment)
        command = [str(self.build.program("shrink_rank")), self.scenario, str(rank), str(self.ranks),
                   str(ids or self.ids)]
        process = subprocess.Popen(dying_with_parent(command), env=env, stdout=subprocess.PIPE, stderr=errors,
                                   stdin=subprocess.DEVNULL, text=True)
        self._running[rank], self._said[rank] = process, []
        self._readers[rank] = threading.Thread(target=self._read, args=(rank,))
        self._readers[rank].start()

    def _read(self, rank):
        with self._running[rank].stdout as stdout:
            for line in stdout:
                self._said[rank].append(line.strip())

    def await_line(self, rank, start):
        """Waits until a rank has said a line that begins so, or has ended."""
        await_true(f"rank {rank} to say '{start}'", lambda: self._running[rank].poll() is not None or any(
            line.startswith(start) for line in list(self._said[rank])), PATIENCE_S)

    def await_stop(self, rank):
        """Waits until a rank has stopped itself."""
        stat = Path(f"/proc/{self._running[rank].pid}/stat")
        await_true(f"rank {rank} to stop", lambda: _state_of(stat) == "T", PATIENCE_S)

    def go_on(self, rank):
        self._running[rank].send_signal(signal.SIGCONT)

    def await_end(self, rank):
        """Waits until a rank has ended, however."""
        await_true(f"rank {rank} to end", lambda: self._running[rank].poll() is not None, PATIENCE_S)

    def unique_id(self):
        """Waits for the unique ID and returns its bytes."""
        await_true("the unique ID", self.ids.exists, PATIENCE_S)
        return self.ids.read_bytes()

    def altered(self, name, change):
        """Leaves the unique ID in another file, with the bytes that `change` returns for it. Returns the file."""
        fresh = self.folder / f"{name}.new"
        fresh.write_bytes(change(self.unique_id()))
        return fresh.rename(self.folder / name)

    def wait(self):
        """Returns how each rank ended: {rank: Ended}. Raises Failed where one hangs."""
        ended = {}
        for rank, process in self._running.items():
            try:
                code = process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                raise Failed(f"rank {rank} still runs: it said {self._said[rank]}") from None
            self._readers[rank].join()
            errors = self._errors[rank]
            errors.seek(0)
            ended[rank] = Ended(code, tuple(self._said[rank]), errors.read().decode(errors="replace"))
        return ended


def _state_of(stat):
    return stat.read_text(encoding="ascii").rpartition(")")[2].split()[0]


def place_of(unique_id):
    """Returns (address, port) of the process that listens for the vote, as the tail of the ID says."""
    magic, version, port, address = struct.unpack_from("<IHH16s", unique_id, TAIL_AT)
    if (magic, version) != (TAIL_MAGIC, TAIL_VERSION):
        raise Failed(f"tail of the unique ID: expected one of version {TAIL_VERSION}, got {unique_id[TAIL_AT:].hex()}")
    if address[:12] == bytes(10) + b"\xff\xff":
        return socket.inet_ntop(socket.AF_INET, address[12:]), port
    return socket.inet_ntop(socket.AF_INET6, address), port


def with_tail(unique_id, port, magic=TAIL_MAGIC, version=TAIL_VERSION, host="127.0.0.1"):
    """Returns the ID with another tail."""
    address = bytes(10) + b"\xff\xff" + socket.inet_aton(host)
    return unique_id[:TAIL_AT] + struct.pack("<IHH16sII", magic, version, port, address, 0, 0)


def _head(kind, size, version=VERSION):
    return struct.pack("<IIII", MAGIC, version, kind, size)


def greeting(version=VERSION):
    return _head(GREETING, 16, version)


def hello(unique_id, rank, ranks=2, build=BUILD, level=16):
    return _head(HELLO, 176) + unique_id + struct.pack("<QIIIIII", build, ranks, rank, 1, level, 1, 0)


def narrow_verdict(rank):
    return _head(VERDICT, 168) + struct.pack("<IIIIII", 2, rank, 1, 16, 1, 0) + bytes(128)


def read_exactly(connection, size):
    """Returns so many bytes, or fewer if the other end closes before."""
    read = b""
    while len(read) < size:
        more = connection.recv(size - len(read))
        if not more:
            break
        read += more
    return read

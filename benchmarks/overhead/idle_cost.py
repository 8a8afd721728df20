"""Runs a node daemon with clients that do nothing, and measures what the daemon and its signallers cost meanwhile."""

import contextlib
import os
import re
import socket
import struct
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from testing import commands, wire
from testing.machine import Machine
from testing.processes import Failed, Processes

MACHINE = Machine(nodes=1, gpus_per_node=4)
CLIENTS_PER_GPU = 4
SECONDS = 5.0  # for which the processor time is counted
_SETTLE_S = 2.0
_PATIENCE_S = 20.0
_OFFER, _WANT_SIGNALS = 11, 12  # proto/signaller_protocol.h
_GIVEN = 0
_HEADER = struct.Struct("<4I")
_PRIVATE = re.compile(r"^Private_(?:Clean|Dirty):\s+(\d+) kB$", re.MULTILINE)


@dataclass(frozen=True)
class Cost:
    """A Cost is the private memory of processes, and their processor time as a share of one core."""

    private_kib: float
    processor: float

    def __add__(self, other):
        return Cost(self.private_kib + other.private_kib, self.processor + other.processor)

    def __sub__(self, other):
        return Cost(self.private_kib - other.private_kib, self.processor - other.processor)


@dataclass(frozen=True)
class Idle:
    """An Idle is what one course has cost. `exported_bytes` are of all GPUs."""

    daemon: Cost
    signallers: Cost
    exported_bytes: int


def private_kib(smaps_rollup):
    """Returns the private memory that a process's smaps_rollup tells of. Raises ValueError if it tells of none."""
    found = _PRIVATE.findall(smaps_rollup)
    if not found:
        raise ValueError(f"smaps_rollup: expected lines Private_Clean and Private_Dirty, got {smaps_rollup[:80]!r}")
    return sum(map(int, found))


def processor_ns(schedstats):
    """Returns the processor time in the schedstat texts of a process's threads."""
    return sum(int(text.split()[0]) for text in schedstats)


def run(build, transport, signallers, mark, daemon=None):
    """Runs a daemon with this transport, so many signallers for each GPU, and idle clients that ask for signals where
    the daemon has any. `daemon` is the file of an older daemon, which knows no transport (None). Returns an Idle."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (tempfile.TemporaryDirectory(prefix=f"{mark}-", dir=base) as directory, Processes(mark) as processes,
          contextlib.ExitStack() as clients):
        course = _Course(build, Path(directory), processes, transport, signallers, daemon)
        course.start()
        exported = sum(course.join(clients, gpu) for gpu in course.gpus)
        time.sleep(_SETTLE_S)
        return course.watch(exported)


class _Course:
    """A course is one run, while it runs."""

    def __init__(self, build, directory, processes, transport, signallers, daemon):
        self._daemon = [str(daemon)] if daemon else []
        self._build, self._directory, self._processes = build, directory, processes
        self._transport = transport
        self.gpus = [MACHINE.uuid(0, gpu) for gpu in range(MACHINE.gpus_per_node)]
        self._signallers = [(f"signaller-{gpu}-{number}", gpu) for gpu in self.gpus for number in range(signallers)]
        self._socket = directory / "arbiter.sock"

    def start(self):
        for name in ("machine", "no-mps"):
            (self._directory / name).mkdir()
        (self._directory / "machine.yaml").write_text(MACHINE.yaml(self._directory / "machine"), encoding="utf-8")
        config = self._directory / "crossover.yaml"
        settings = ("guard: off", *([f"transport: {self._transport}"] if self._transport else []))
        config.write_text(commands.daemon_config(self._socket, self._directory / "trace.jsonl", settings),
                          encoding="utf-8")
        command = commands.daemon_command(self._build, config)
        self._start("daemon", [*(self._daemon or command[:1]), *command[1:]])
        end = time.monotonic() + _PATIENCE_S
        while not self._socket.exists():
            self._check("daemon", end)
        for name, gpu in self._signallers:
            self._start(name, commands.signaller_command(self._build, gpu, self._socket, self._directory / "no-mps"))

    def _start(self, name, command):
        environment = {"LD_LIBRARY_PATH": str(self._build.gpu_libraries), "SIMGPU_NODE": "0",
                       "SIMGPU_CONFIG": str(self._directory / "machine.yaml")}
        self._processes.start(name, command, environment, self._directory / f"{name}.log")

    def _check(self, name, end):
        if not self._processes.alive(name) or time.monotonic() > end:
            raise Failed(f"{name} is not ready; its last words: {self._processes.last_words(name)}")
        time.sleep(0.02)

    def join(self, clients, gpu):
        """Lets the clients of a GPU join. Returns how many bytes of the GPU's memory they are offered."""
        exported = 0
        for number in range(CLIENTS_PER_GPU):
            client = clients.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            client.connect(str(self._socket))
            wire.join(client, f"job-{number}", gpu, 1)
            if self._signallers:
                exported = _await_memory(client)
        return exported

    def watch(self, exported):
        ids = {name: self._processes.inner(name) for name in ["daemon", *(name for name, _ in self._signallers)]}
        before, began = {name: _used_ns(pid) for name, pid in ids.items()}, time.monotonic()
        time.sleep(SECONDS)
        seconds = time.monotonic() - began
        costs = {name: Cost(private_kib(Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")),
                            (_used_ns(pid) - before[name]) / 1e9 / seconds) for name, pid in ids.items()}
        for name in ids:
            self._check(name, time.monotonic() + _PATIENCE_S)
        daemon = costs.pop("daemon")
        return Idle(daemon, sum(costs.values(), Cost(0.0, 0.0)), exported)


def _await_memory(client):
    """Asks for signals until the daemon gives their memory. Returns its size."""
    client.settimeout(_PATIENCE_S)
    client.sendall(_HEADER.pack(_WANT_SIGNALS, 24, 1, 0) + struct.pack("<2I", 1, 0))
    while True:
        message, descriptors, _, _ = socket.recv_fds(client, 4096, 1)
        for descriptor in descriptors:
            os.close(descriptor)
        if len(message) == 32:
            kind, _, _, _, state, _, size, _ = struct.unpack("<8I", message)
            if (kind, state) == (_OFFER, _GIVEN):
                return size
        if not message:
            raise Failed("the daemon has closed the connection of a client that asks for signals")


def _used_ns(pid):
    return processor_ns(path.read_text(encoding="ascii") for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))

"""Lets two clients of one GPU take turns through the library and the arbiter that ship, with the signaller where they
wait for signals. Computes the time of hand-overs from what the clients noted.
"""

import math
import re
import subprocess
import time
from dataclasses import dataclass

from benchmarks.gpu import children
from benchmarks.gpu.children import Cannot

# For each value of CROSSOVER_GATES, what the library calls the gates of a client. Those of ipc are GPU gates, too.
GATES = {"gpu": "GPU", "relay": "relayed", "host": "host", "ipc": "GPU"}
_SLOT = re.compile(r"slot \d+ of its GPU, (\w+) gates")
_SIGNALS = re.compile(r"streams wait for (signals in device memory)|signals: (expected .*)")
PLACES = {"same": (), "apart": ("unshare", "--pid", "--fork", "--kill-child")}  # PID namespaces
# The guard would let the clients run side by side: their collectives take no time, so turns gain them nothing.
_ARBITER = ("--transport", "ipc", "--guard", "off", "--quantum-us", "off")
_READY_S, _JOIN_S, _SIGNALS_S = 60, 30, 10
_MOST_OVERLAP = 0.02
_LEAST = 20  # hand-overs


@dataclass(frozen=True)
class Shape:
    """Describes the turns: how many are counted of each client, and how long each computes. `look_us`: the host of the
    known-bad client looks so often whether its stream is done."""

    turns: int
    hold_us: int
    look_us: int = 0

    def arguments(self):
        return (self.hold_us, *([self.look_us] if self.look_us else []))


def handovers_ns(first, second):
    """Returns the times between the end of one client's turn and the start of the other's next one, and how many turns
    began before the other client's had ended. The arguments are the clients' turns, as (entered, left). Pure."""
    turns = sorted([(*turn, 0) for turn in first] + [(*turn, 1) for turn in second])
    gaps = [later[0] - earlier[1] for earlier, later in zip(turns, turns[1:]) if earlier[2] != later[2]]
    return [gap for gap in gaps if gap >= 0], sum(gap < 0 for gap in gaps)


def joined_by(said):
    """Returns what the library calls the gates by which its process has joined, or "". Pure."""
    slots = _SLOT.findall(said)
    return slots[-1] if slots else ""


def other_gates(gates, said):
    """Returns why a client does not take turns by these gates, or "", by what the library has said in its process.
    Pure."""
    joined = joined_by(said)
    if not joined:
        return f"the library has not joined: {said.strip()[-300:] or 'it said nothing'}"
    if joined != GATES[gates]:
        return f"the client has {joined} gates: {' '.join(said.split())[-300:]}"
    signals = _SIGNALS.findall(said)
    if gates == "ipc" and not (signals and signals[-1][0]):
        return f"signals: {signals[-1][1]}" if signals else "the library has said nothing of signals"
    return ""


def quantile(samples, share):
    """Returns a quantile by the nearest rank, so that it is one of the samples. Pure."""
    ordered = sorted(samples)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def measure(rig, environment, gates, place, shape):
    """Returns {"p50", "p99", "handovers"} in us, of two clients that take turns by these gates. Raises Cannot, with the
    reason, where they take none, or not by these gates."""
    with Pair(rig, environment, gates, place, shape) as pair:
        pair.await_turns()
        times, overlaps = handovers_ns(*pair.count())
        pair.check()
    if len(times) < _LEAST or overlaps > _MOST_OVERLAP * len(times):
        raise Cannot(f"the clients did not take turns: {len(times)} hand-overs, and {overlaps} turns that began before "
                     "the other client's had ended")
    return {"p50": quantile(times, 0.5) / 1e3, "p99": quantile(times, 0.99) / 1e3, "handovers": len(times)}


class Pair(children.Started):
    """Runs two clients, their arbiter and, where they wait for signals, their signaller, as a context."""

    def __init__(self, rig, environment, gates, place, shape):
        super().__init__()
        self._rig, self._environment, self._gates = rig, environment, gates
        self._place, self._shape = place, shape
        self._directory = rig.fresh("turns")
        self._clients = []

    def _start(self):
        service, socket = self._rig.start_arbiter(self._directory, *_ARBITER)
        self._stack.callback(children.stop_service, service)
        if self._gates == "ipc":
            self._start_signaller(socket)
        nccl = self._directory / "libnccl.so.2"  # the library knows NCCL by the name of its file
        nccl.symlink_to(self._rig.build / "lib" / "libgpu_empty_nccl.so")
        for number in range(2):
            own = {**self._environment, **self._rig.with_library(socket, f"job{number}"),
                   "LD_PRELOAD": f"{self._rig.library}:{nccl}", "CROSSOVER_GATES": self._gates, "CROSSOVER_LOG": "info"}
            command = [*PLACES[self._place], self._rig.program("gpu_turn_taker"), *self._shape.arguments()]
            self._clients.append(self._stack.enter_context(children.Program(
                command, self._rig.environment(**own), self._log(number))))
        for client in self._clients:
            client.hear(_READY_S)

    def _start_signaller(self, socket):
        program, no_mps = self._rig.program("crossover-signaller"), self._directory / "no-mps"
        no_mps.mkdir()
        environment = self._rig.environment(**{name: value for name, value in self._environment.items()
                                               if not name.startswith("CUDA_MPS_")})
        try:
            listed = subprocess.run([program, "--list-gpus", "--no-mps", no_mps], env=environment, check=False,
                                    capture_output=True, text=True, timeout=_READY_S)
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise Cannot(f"the signaller: {fault}") from fault
        if not listed.stdout:
            raise Cannot(f"the signaller cannot use the GPU: {listed.stderr.strip()}")
        command = [program, "--gpu", listed.stdout.split()[0], "--socket", socket, "--no-mps", no_mps]
        signaller = children.Program(command, environment, self._directory / "signaller.log")
        self._stack.callback(children.stop_service, signaller)

    def _log(self, number):
        return self._directory / f"job{number}.log"

    def _said(self, number):
        return self._log(number).read_text(encoding="utf-8", errors="replace")

    def await_turns(self):
        """Waits until both clients hold turns by the gates that were asked for. Signals may come after other gates."""
        held = [f'"gang":"job{number}","event":"hold"' for number in range(2)]
        trace, end, limit_s = self._directory / "trace.jsonl", time.monotonic() + _JOIN_S, _JOIN_S
        while True:
            turned = trace.read_text(encoding="utf-8") if trace.exists() else ""
            wrong = self._wrong()
            if not wrong and all(word in turned for word in held):
                return
            joined = [joined_by(self._said(number)) for number in range(2)]
            if limit_s == _JOIN_S and all(joined):
                limit_s, end = _SIGNALS_S, time.monotonic() + _SIGNALS_S
            if any(gates not in ("", GATES[self._gates]) for gates in joined) or time.monotonic() > end:
                raise Cannot(wrong or f"no turns by {self._gates} in {limit_s} s")
            time.sleep(0.02)

    def check(self):
        """Raises Cannot where a client takes no turns by the gates that were asked for, or not any more."""
        wrong = self._wrong()
        if wrong:
            raise Cannot(wrong)

    def _wrong(self):
        return next(filter(None, (other_gates(self._gates, self._said(number)) for number in range(2))), "")

    def count(self):
        """Returns the next turns of both clients, as (entered, left) by the GPU's clock, in ns."""
        for client in self._clients:
            client.say(f"count {self._shape.turns}")
        return [client.hear(_READY_S)["turns"] for client in self._clients]

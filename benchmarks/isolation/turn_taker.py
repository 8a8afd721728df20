"""Clients that take turns as the library does, without a GPU: `python3 -m benchmarks.isolation.turn_taker SOCKET GANG
GPU[,...]`.

One rank of a gang is on each GPU. It runs until it is killed and prints "ready" once all ranks have joined. A rank
that is refused asks again, as the library does.
"""

import contextlib
import socket
import sys
import time

from testing import wire
from testing.processes import Failed

_LOOK_S, _HOLD_S, _PAUSE_S = 0.002, 0.004, 0.05
_ASKS_AGAIN_S = 0.5


class _Rank:
    """One rank: makes its turns, one step at a time."""

    def __init__(self, path, gang, gpu, ranks, rank):
        self._socket, self._page = _let_in(path, gang, gpu, ranks, rank)
        page = self._page
        page.write(page.slot, wire.TURNS, 1)
        page.write(page.slot, wire.PHASE, wire.PHASE_TAKING)
        self._number = wire.next_turn(page.read(page.slot, wire.REL))
        self._next, self._until = self._pause, 0.0

    def step(self, now):
        if now >= self._until:
            self._next(now)

    def _pause(self, _now):
        if self._page.read(self._page.slot, wire.MODE) == wire.MODE_GATE:
            self._page.write(self._page.slot, wire.READY, self._number)
            self._next = self._wait

    def _wait(self, now):
        page = self._page
        if wire.at_or_past(page.read(page.slot, wire.GATE), self._number):
            page.write(page.slot, wire.HOLD, self._number)
            page.write(page.slot, wire.GATE, wire.last_stretch(self._number))
            self._next, self._until = self._give_back, now + _HOLD_S

    def _give_back(self, now):
        page = self._page
        successor = page.read(page.slot, wire.SUCCESSOR)
        opened = wire.opening(page.slot, self._number, successor, page.read(successor, wire.READY))
        page.write(successor, wire.GATE, opened)
        page.write(page.slot, wire.REL, self._number)
        self._number = wire.next_turn(self._number)
        self._next, self._until = self._pause, now + _PAUSE_S


def _let_in(*hello):
    """Returns a connection and the page."""
    path, *words = hello
    while True:
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            client.connect(path)
            return client, wire.join(client, *words)
        except (OSError, Failed) as refusal:
            print(refusal, flush=True)
            client.close()
            time.sleep(_ASKS_AGAIN_S)


def main(path, gang, gpus):
    ranks = [_Rank(path, gang, gpu, len(gpus), rank) for rank, gpu in enumerate(gpus)]
    print("ready", flush=True)
    while True:
        now = time.monotonic()
        for rank in ranks:
            rank.step(now)
        time.sleep(_LOOK_S)


def command(path, gang, gpus):
    """Returns the command that starts one."""
    return [sys.executable, "-B", "-m", "benchmarks.isolation.turn_taker", path, gang, ",".join(gpus)]


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(sys.argv[1], sys.argv[2], sys.argv[3].split(","))

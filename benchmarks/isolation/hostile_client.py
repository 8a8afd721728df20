"""A hostile client: `python3 -m benchmarks.isolation.hostile_client HOW SOCKET GANG GPU[,GPU...]`. It runs until it is
killed.

  scribbles   writes anything anywhere on the pages of its GPUs
  forges      writes what hurts most: shuts its neighbour's gates, says that it died, asks and answers in its name
  holds       takes a turn, and keeps it for ever
  floods      connects, sends nonsense, disconnects, and fills the connections that it keeps with messages
It prints "ready" once it has joined.
"""

import contextlib
import os
import random
import socket
import sys
import time
import uuid

from testing import wire
from testing.processes import Failed

_PAUSE_S = 0.001
_HELD_OPEN = 50


def connect(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(path)
    return client


class _Member:
    """A client of one GPU, which joins again whenever it was disconnected."""

    def __init__(self, path, gang, gpu, ranks, rank):
        self._path, self._hello = path, (gang, gpu, ranks, rank)
        self.join()

    def join(self):
        self.socket = connect(self._path)
        self.page = wire.join(self.socket, *self._hello)
        self.page.write(self.page.slot, wire.TURNS, 1)
        self.page.write(self.page.slot, wire.PHASE, wire.PHASE_TAKING)
        self.wanted = wire.next_turn(self.page.read(self.page.slot, wire.REL))
        self.socket.setblocking(False)

    def stay(self):
        """Joins again if it was disconnected. If that fails, it goes on with the page that it has."""
        with contextlib.suppress(BlockingIOError):
            while self.socket.recv(4096):
                pass
            with contextlib.suppress(OSError, Failed):
                self.join()


def join_all(path, gang, gpus):
    members = [_Member(path, gang, gpu, len(gpus), rank) for rank, gpu in enumerate(gpus)]
    print("ready", flush=True)
    return members


def _for_ever(members, harm):
    """Does harm as each member a thousand times a second. Twice a second it checks that all are still connected."""
    while True:
        for member in members:
            member.stay()
        for _ in range(500):
            for member in members:
                harm(member)
            time.sleep(_PAUSE_S)


def scribbles(path, gang, gpus, draw):
    def harm(member):
        value = draw.choice((0, 1, 0xffffffff, draw.getrandbits(32)))
        member.page.scribble(draw.randrange(wire.PAGE_BYTES // 4), value)

    _for_ever(join_all(path, gang, gpus), harm)


def forges(path, gang, gpus, draw):
    def harm(member):
        page = member.page
        page.write(page.slot, wire.PHASE, wire.PHASE_TAKING)
        for slot in range(wire.MAX_CLIENTS):
            if slot != page.slot and page.read(slot, wire.ALIVE):
                _forge(page, slot, draw)

    _for_ever(join_all(path, gang, gpus), harm)


def _forge(page, slot, draw):
    asked = page.read(slot, wire.READY)
    word, value = draw.choice((
        (wire.GATE, asked - 1), (wire.GATE, 0), (wire.MODE, wire.MODE_GATE), (wire.REL, asked), (wire.HOLD, asked),
        (wire.READY, wire.next_turn(asked)), (wire.READY, page.read(slot, wire.REL)), (wire.ALIVE, wire.OWNER_DIED)))
    page.write(slot, word, value)


def holds(path, gang, gpus, _draw):
    def harm(member):
        page = member.page
        page.write(page.slot, wire.READY, member.wanted)
        if wire.at_or_past(page.read(page.slot, wire.GATE), member.wanted):
            page.write(page.slot, wire.HOLD, member.wanted)

    _for_ever(join_all(path, gang, gpus), harm)


def floods(path, gang, gpus, draw):
    kept = [member.socket for member in join_all(path, gang, gpus)]
    while True:
        with contextlib.suppress(OSError):
            client = connect(path)
            client.setblocking(False)
            elsewhere = f"GPU-{uuid.UUID(int=draw.getrandbits(128))}"
            client.send(draw.choice((draw.randbytes(draw.randrange(1, 4096)), wire.profile_bytes(),
                                     wire.hello(f"flood{draw.getrandbits(40):x}", elsewhere),
                                     wire.hello(gang, gpus[0])[:draw.randrange(1, 200)])))
            kept.append(client)
        for client in kept[:len(gpus)]:
            with contextlib.suppress(OSError):
                client.send(wire.profile_bytes())
        for client in kept[len(gpus):-_HELD_OPEN]:
            client.close()
        del kept[len(gpus):-_HELD_OPEN]
        time.sleep(_PAUSE_S / 2)


WAYS = {way.__name__: way for way in (scribbles, forges, holds, floods)}


def command(how, path, gang, gpus):
    """Returns the command that starts a hostile client."""
    return [sys.executable, "-B", "-m", "benchmarks.isolation.hostile_client", how, str(path), gang, ",".join(gpus)]


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        WAYS[sys.argv[1]](sys.argv[2], sys.argv[3], sys.argv[4].split(","), random.Random(os.getpid()))

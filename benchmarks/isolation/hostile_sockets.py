"""A client that harms every listener: `python3 -m benchmarks.isolation.hostile_sockets HOW SOCKET GANG GPU[,GPU...]`.

  passes      sends descriptors along with everything that it says, hundreds at a time
  listens_not asks for more than it ever reads, of the arbiter, the API and the metrics
  crowds      keeps ten thousand connections open, to every socket in reach
  babbles     says anything at all to every socket in reach
  hogs        keeps as many connections to the arbiter as a user may have, and says nothing
It joins as a client of its GPUs, prints "ready" once it has joined, and runs until it is killed. It expects the API's
socket beside the arbiter's, and the metrics at METRICS.
"""

import contextlib
import itertools
import os
import random
import resource
import socket
import sys
import time

from benchmarks.isolation import hostile_client
from testing import wire

METRICS = ("127.0.0.1", 9402)
_PAUSE_S = 0.001
_HELD_OPEN = 50
_CROWD = 10_000
_HOGGED = 160  # more than are allowed
_DESCRIPTORS = 250  # in one message; the kernel takes 253
# The preface of an HTTP/2 connection, as gRPC clients send it, and empty settings.
_HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
_ASK = b"GET /metrics HTTP/1.1\r\nHost: node\r\n\r\n"


def passes(path, gang, gpus, draw):
    hostile_client.join_all(path, gang, gpus)
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(open("/dev/null", "rb")).fileno() for _ in range(_DESCRIPTORS)]
        while True:
            with contextlib.suppress(OSError), hostile_client.connect(path) as client:
                client.setblocking(False)
                words = draw.choice((wire.hello(gang, gpus[0]), wire.profile_bytes(), draw.randbytes(100)))
                socket.send_fds(client, [words], files)
                socket.send_fds(client, [words], files)
            time.sleep(_PAUSE_S)


def listens_not(path, gang, gpus, _draw):
    members = hostile_client.join_all(path, gang, gpus)
    deaf = [(connect, words, []) for connect, words in _talks(path)]
    while True:
        for connect, words, kept in deaf:
            with contextlib.suppress(OSError):
                if len(kept) < _HELD_OPEN:
                    kept.append(connect())
            for client in kept[:]:
                try:
                    client.send(words)
                except BlockingIOError:
                    pass
                except OSError:
                    client.close()
                    kept.remove(client)
        for member in members:
            member.stay()
        time.sleep(10 * _PAUSE_S)


def crowds(path, gang, gpus, _draw):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    hostile_client.join_all(path, gang, gpus)
    talks, crowd = _talks(path), []
    for number in itertools.count():
        connect, words = talks[number % len(talks)]
        with contextlib.suppress(OSError):
            client = connect()
            crowd.append(client)
            if number % 2:
                client.send(words)
        for client in crowd[:-min(_CROWD, hard - 100)]:
            client.close()
        del crowd[:-min(_CROWD, hard - 100)]
        time.sleep(_PAUSE_S / 2)


def babbles(path, gang, gpus, draw):
    hostile_client.join_all(path, gang, gpus)
    while True:
        for connect, words in _talks(path):
            with contextlib.suppress(OSError), connect() as client:
                client.send(draw.choice((b"", words[:draw.randrange(len(words))])))
                client.send(draw.randbytes(draw.randrange(1, 4096)))
        # At a higher rate it takes CPU time from the processes that simulate GPUs, and the run is void.
        time.sleep(2 * _PAUSE_S)


def hogs(path, gang, gpus, _draw):
    hostile_client.join_all(path, gang, gpus)
    connect, _ = _talks(path)[0]
    held = [None] * _HOGGED
    while True:
        for place, client in enumerate(held):
            if client is None or _ended(client):
                held[place] = None
                with contextlib.suppress(OSError):
                    held[place] = connect()


def _ended(client):
    """Returns whether the other end has closed the connection. Drops what it sent before."""
    try:
        while client.recv(4096):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    client.close()
    return True


def _talks(path):
    """Returns for each socket in reach how to connect to it without blocking, and the first bytes to send there."""
    def unix(kind, where):
        client = socket.socket(socket.AF_UNIX, kind | socket.SOCK_NONBLOCK)
        client.connect(where)
        return client

    def metrics():
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        client.connect_ex(METRICS)
        return client

    api = os.path.join(os.path.dirname(path), "api.sock")
    return [(lambda: unix(socket.SOCK_SEQPACKET, path), wire.profile_bytes()),
            (lambda: unix(socket.SOCK_STREAM, api), _HTTP2), (metrics, _ASK)]


WAYS = {way.__name__: way for way in (passes, listens_not, crowds, babbles, hogs)}


def command(how, path, gang, gpus):
    """Returns the command that starts one."""
    return [sys.executable, "-B", "-m", "benchmarks.isolation.hostile_sockets", how, str(path), gang, ",".join(gpus)]


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        WAYS[sys.argv[1]](sys.argv[2], sys.argv[3], sys.argv[4].split(","), random.Random(os.getpid()))

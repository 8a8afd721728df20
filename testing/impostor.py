"""Listeners at an arbiter's socket that are not arbiters, or are of another version."""

import array
import contextlib
import fcntl
import os
import socket
import struct
import tempfile
import threading
from pathlib import Path

from testing import wire

_PAGE_HEAD = struct.Struct("<4I")  # magic, version, bytes, clients
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


def _page(size=wire.PAGE_BYTES, version=0, seals=_SEALS):
    """Returns a turnstile as an arbiter makes it, except for the arguments."""
    fd = os.memfd_create("turnstile", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, size)
    os.pwrite(fd, _PAGE_HEAD.pack(wire.PAGE_MAGIC, wire.PAGE_VERSION + version, wire.PAGE_BYTES, wire.MAX_CLIENTS), 0)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def _answer(client, message, fd=None):
    passed = [] if fd is None else [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))]
    client.sendmsg([message], passed)
    if fd is not None:
        os.close(fd)


# By name: how it answers a hello, and what the library says about it.
WAYS = {
    "older arbiter": (lambda client: _answer(client, wire.welcome(version=-1), _page()), "of another version"),
    "newer arbiter": (lambda client: _answer(client, wire.welcome(version=1), _page()), "of another version"),
    "page of another version": (lambda client: _answer(client, wire.welcome(), _page(version=1)),
                                "turnstile is of another version"),
    "truncated page": (lambda client: _answer(client, wire.welcome(), _page(size=64)), "turnstile has a wrong size"),
    "page that may shrink": (lambda client: _answer(client, wire.welcome(), _page(seals=0)), "not sealed"),
    "foreign descriptor": (lambda client: _answer(client, wire.welcome(), os.open("/dev/null", os.O_RDWR)),
                           "not sealed"),
    "missing descriptor": (lambda client: _answer(client, wire.welcome()), "welcome is malformed"),
    "slot that is none": (lambda client: _answer(client, wire.welcome(slot=wire.MAX_CLIENTS), _page()),
                          "welcome is malformed"),
    "garbage": (lambda client: _answer(client, os.urandom(700)), "of another version"),
    "silence": (lambda client: None, "does not answer"),
}


@contextlib.contextmanager
def serving(way):
    """Yields the path of a socket where such a listener answers every hello. It never ends a connection."""
    answer, _ = WAYS[way]
    with tempfile.TemporaryDirectory(prefix="crossover-impostor.") as directory, \
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        path = str(Path(directory) / "arbiter.sock")
        listener.bind(path)
        os.chmod(path, 0o666)
        listener.listen(64)
        server = threading.Thread(target=_serve, args=(listener, answer), daemon=True)
        server.start()
        try:
            yield path
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            server.join()


def _serve(listener, answer):
    clients = []
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            break
        clients.append(client)
        with contextlib.suppress(OSError):
            client.recv(4096)
            answer(client)
    for client in clients:
        client.close()

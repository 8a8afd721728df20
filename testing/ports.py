"""Finds ports of this machine for the programs of a test or a figure."""

import contextlib
import itertools
import os
import socket

from testing.processes import Failed

_OWN = 20  # for each process
_FIRST = 20000 + os.getpid() % 600 * _OWN  # all below the ports that Linux gives to outgoing connections
_TURN = itertools.cycle(range(_FIRST, _FIRST + _OWN))


def free_port():
    """Returns a port that no program listens on. Of its own ports, the process uses that which it gave out longest
    ago."""
    for port in itertools.islice(_TURN, _OWN):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("", port))
                return port
    raise Failed(f"ports {_FIRST} to {_FIRST + _OWN - 1} are all taken")

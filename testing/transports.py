"""Tells by which transport the clients of a run take turns, as `crossover top` shows it."""

import time
from collections import Counter

from testing.processes import Failed, await_true

# The names in CROSSOVER_GATES, and the transports of clients that take turns so.
TRANSPORTS = {"gpu": "gpu_gates", "ipc": "signalled_gates"}
_PATIENCE_S = 20.0


def seen_by(running):
    """Returns the transport of each client on all nodes."""
    return [transport for node in range(running.machine.nodes) for transport in transports_in(running.top(node))]


def transports_in(top):
    """Returns the transport of each client in what `crossover top -o json` prints."""
    return [client["transport"] for job in top["jobs"] for client in job["clients"]]


def not_by(gates, seen, clients):
    """Returns what is wrong if not all of so many clients take turns by these gates, or ""."""
    expected = TRANSPORTS[gates]
    if len(seen) == clients and set(seen) == {expected}:
        return ""
    return f"transports: expected {clients} times {expected}, got {', '.join(sorted(seen)) or 'none'}"


def await_signals(running, clients):
    """Waits until so many clients take turns by signals, and no others. Raises Failed if that takes too long."""
    await_counts(running, {"ipc": clients})


def await_counts(running, clients):
    """Waits until exactly so many clients take turns by each of these gates. Raises Failed if that takes too long."""
    wanted = +Counter({TRANSPORTS[gates]: count for gates, count in clients.items()})
    end = time.monotonic() + _PATIENCE_S
    while (seen := Counter(seen_by(running))) != wanted:
        if time.monotonic() > end:
            raise Failed(f"transports: expected {dict(wanted)}, got {dict(seen)}")
        time.sleep(0.02)


def await_other_gates(running, clients):
    """Waits until not all of so many clients take turns by signals. Raises Failed if that takes too long."""
    await_true(f"fewer than {clients} clients with signals", lambda: not_by("ipc", seen_by(running), clients),
               _PATIENCE_S)

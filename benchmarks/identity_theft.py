"""Attempts of a pod's process to be taken for another pod: `python3 -m benchmarks.identity_theft HOW SOCKET GPU GROUPS
[FORGED]`, run in the control groups of the pod that means harm.

GROUPS: the control groups of the pod that is to be robbed, FORGED: those that are made to look so, each separated by
commas. Prints as one line of JSON whether it was `welcomed`.
"""

import json
import os
import socket
import sys
import time
from pathlib import Path

from benchmarks import wire
from benchmarks.processes import Failed

_GANG = "robbed"
_LAST_PID = "/proc/sys/kernel/ns_last_pid"
_ENDS_WITHIN_S = 2.0
_TRIES = 50


def _connect(path):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(_ENDS_WITHIN_S)
    client.connect(path)
    return client


def _enter(groups):
    for group in groups:
        with open(f"{group}/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write("0")


def _make(group):
    """A control group, with those above it; in the hierarchy of cpusets none takes a process as it is made."""
    if group.exists():
        return
    _make(group.parent)
    group.mkdir()
    for what in ("cpuset.cpus", "cpuset.mems"):
        if (group / what).exists():
            (group / what).write_text((group.parent / what).read_text(encoding="ascii"), encoding="ascii")


def _hello(client, gpu):
    """Whether it is welcome."""
    try:
        wire.join(client, _GANG, gpu)
    except (OSError, Failed):
        return False
    return True


def _ends(client):
    """Whether the other end hangs up within a while."""
    end = time.monotonic() + _ENDS_WITHIN_S
    try:
        while time.monotonic() < end:
            if not client.recv(4096):
                return True
    except OSError as failure:
        return not isinstance(failure, TimeoutError)
    return False


def _in_child(act):
    """The socket that `act` makes in a child that has ended when this returns, and the child's PID."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    child = os.fork()
    if child == 0:
        try:
            made = act()
            socket.send_fds(theirs, [b"x"], [made.fileno()])
        finally:
            os._exit(0)
    theirs.close()
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(child, 0)
    if not descriptors:
        raise Failed("the child has passed no socket on")
    client = socket.socket(fileno=descriptors[0])
    client.settimeout(_ENDS_WITHIN_S)
    return client, child


def says_so(path, gpu, _groups, _forged):
    """Its own word for it."""
    return _hello(_connect(path), gpu)


def forges_group(path, gpu, _groups, forged):
    """From control groups of its own that have the other's name."""
    for group in forged:
        _make(Path(group))
    _enter(forged)
    return _hello(_connect(path), gpu)


def reuses_pid(path, gpu, groups, _forged):
    """Connects and ends; then the other pod gets a process of the same number, and the connection is used."""
    client, pid = _in_child(lambda: _connect(path))
    for _ in range(_TRIES):
        with open(_LAST_PID, "w", encoding="ascii") as last:
            last.write(str(pid - 1))
        child = os.fork()
        if child == 0:
            _enter(groups)
            time.sleep(600)
            os._exit(0)
        if child == pid:
            print("dealt", flush=True)  # for whoever plays with the daemon
            return _hello(client, gpu)
        os.kill(child, 9)
        os.waitpid(child, 0)
    raise Failed(f"no process has got the number {pid} again")


def passes_socket(path, gpu, groups, _forged):
    """Connects, and lets a process of the other pod speak."""
    client = _connect(path)
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _enter(groups)
        os.write(theirs, b"y" if _hello(client, gpu) else b"n")
        time.sleep(600)
        os._exit(0)
    return os.read(ours, 1) == b"y"


def outlives(path, gpu, groups, _forged):
    """Gets the connection of a process of the other pod that ends: whether it still stands then."""
    def joined():
        _enter(groups)
        client = _connect(path)
        _hello(client, gpu)
        return client

    client, _ = _in_child(joined)
    return not _ends(client)


def is_it(path, gpu, groups, _forged):
    """The control: a process of the other pod in earnest."""
    _enter(groups)
    return _hello(_connect(path), gpu)


WAYS = {way.__name__: way for way in (says_so, forges_group, reuses_pid, passes_socket, outlives, is_it)}


def command(how, path, gpu, groups, forged=()):
    """How to start one."""
    return [sys.executable, "-B", "-m", "benchmarks.identity_theft", how, path, gpu, ",".join(map(str, groups)),
            ",".join(map(str, forged))]


def main(how, path, gpu, groups, forged):
    welcomed = WAYS[how](path, gpu, groups.split(","), [group for group in forged.split(",") if group])
    print(json.dumps({"welcomed": welcomed}), flush=True)
    time.sleep(600)  # so that whoever was let in stays in


if __name__ == "__main__":
    main(*sys.argv[1:])

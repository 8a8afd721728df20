"""Attempts of a pod's process to be taken for another pod: `python3 -m benchmarks.isolation.identity_theft HOW SOCKET
GPU GROUPS [FORGED]`, run in the control groups of the hostile pod.

GROUPS are the control groups of the pod whose identity is stolen. FORGED are groups that are made to look like them.
Both are separated by commas. Prints as one line of JSON whether it was `welcomed`.
"""

import json
import os
import socket
import sys
import time
from pathlib import Path

from testing import wire
from testing.processes import Failed

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
    """Makes a control group and its parents. In the cpuset hierarchy a new group takes no process until its files are
    set."""
    if group.exists():
        return
    _make(group.parent)
    group.mkdir()
    for what in ("cpuset.cpus", "cpuset.mems"):
        if (group / what).exists():
            (group / what).write_text((group.parent / what).read_text(encoding="ascii"), encoding="ascii")


def _hello(client, gpu):
    """Returns whether the arbiter welcomes it."""
    try:
        wire.join(client, _GANG, gpu)
    except (OSError, Failed):
        return False
    return True


def _ends(client):
    """Returns whether the other end closes the connection within some time."""
    end = time.monotonic() + _ENDS_WITHIN_S
    try:
        while time.monotonic() < end:
            if not client.recv(4096):
                return True
    except OSError as failure:
        return not isinstance(failure, TimeoutError)
    return False


def _in_child(act):
    """Runs `act` in a child process. Returns the socket that it makes and the child's PID, after the child has ended.
    """
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
    """Only claims to be the other pod."""
    return _hello(_connect(path), gpu)


def forges_group(path, gpu, _groups, forged):
    """Connects from control groups of its own that have the other pod's names."""
    for group in forged:
        _make(Path(group))
    _enter(forged)
    return _hello(_connect(path), gpu)


def reuses_pid(path, gpu, groups, _forged):
    """Connects in a child and ends it. Then a process of the other pod gets the same PID, and the connection is used.
    """
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
            print("dealt", flush=True)  # read by the test that controls the daemon
            return _hello(client, gpu)
        os.kill(child, 9)
        os.waitpid(child, 0)
    raise Failed(f"no process has got the number {pid} again")


def passes_socket(path, gpu, groups, _forged):
    """Connects, and lets a process of the other pod use the connection."""
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
    """Takes over the connection of a process of the other pod that ends. Returns whether it then still works."""
    def joined():
        _enter(groups)
        client = _connect(path)
        _hello(client, gpu)
        return client

    client, _ = _in_child(joined)
    return not _ends(client)


def is_it(path, gpu, groups, _forged):
    """The control: a real process of the other pod."""
    _enter(groups)
    return _hello(_connect(path), gpu)


WAYS = {way.__name__: way for way in (says_so, forges_group, reuses_pid, passes_socket, outlives, is_it)}


def command(how, path, gpu, groups, forged=()):
    """Returns the command that starts one."""
    return [sys.executable, "-B", "-m", "benchmarks.isolation.identity_theft", how, path, gpu,
            ",".join(map(str, groups)), ",".join(map(str, forged))]


def main(how, path, gpu, groups, forged):
    welcomed = WAYS[how](path, gpu, groups.split(","), [group for group in forged.split(",") if group])
    print(json.dumps({"welcomed": welcomed}), flush=True)
    time.sleep(600)  # keeps the connection of a welcomed client open


if __name__ == "__main__":
    main(*sys.argv[1:])

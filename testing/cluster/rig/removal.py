"""Removes what is left of a cluster when its owner ends, however the owner ends.

One small process per cluster, the janitor, waits for its standard input to end. Only the owner holds the other end. The
janitor then ends the cluster's processes and removes its cgroups and its directory. While it lives it holds a lock in
that directory, in which the owner's ID stands. If the lock of a directory is free, the cluster has neither owner nor
janitor, and the next cluster's start removes it.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from testing.cluster.rig import cgroups
from testing.cluster.rig.versions import TREE
from testing.processes import Failed, await_true, kill_marked

PREFIX = "crossover-cluster-"
LOCK = "lock"
_SHARED_MEMORY = "/dev/shm"


def new_directory(prefix=PREFIX):
    """Creates a directory for a cluster. It is in memory if there is room and programs may be started from there."""
    base = _SHARED_MEMORY if _has_room(_SHARED_MEMORY) else tempfile.gettempdir()
    sweep(base, prefix)
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=base))
    directory.chmod(0o711)  # users of pods must reach what pods get from it
    return directory


class Janitor:
    """Starts the janitor of a cluster's directory. The directory's name marks the processes and begins the names of the
    cgroups."""

    def __init__(self, directory):
        # It is in a session of its own, so that Ctrl-C in a terminal does not end it with its owner.
        self._process = subprocess.Popen([sys.executable, "-B", "-m", "testing.cluster.rig.janitor", str(directory)],
                                         cwd=TREE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         start_new_session=True)
        if self._process.stdout.readline() != "ready\n":
            raise Failed("the janitor of the cluster did not start")

    def finish(self):
        """Removes everything now. Raises Failed if something is left."""
        left, _ = self._process.communicate()
        if left:
            raise Failed(f"the cluster left behind: {left.strip()}")


def clean(directory):
    """Removes a cluster. Returns the names of what could not be removed."""
    kill_marked(directory.name, 10.0)
    left = [str(group) for group in cgroups.remove(directory.name)]
    end = time.monotonic() + 10.0
    while not left and directory.exists() and time.monotonic() < end:
        # Unmounting goes on for a moment after the last process of a mount namespace has ended.
        shutil.rmtree(directory, ignore_errors=True)
    return left + ([str(directory)] if directory.exists() else [])


def directories(prefix):
    """Returns the directories of all clusters whose names begin with `prefix`."""
    return [path for base in (_SHARED_MEMORY, tempfile.gettempdir()) for path in Path(base).glob(f"{prefix}*")]


def end_owners(prefix, patience_s=30.0):
    """Ends the owners of all clusters whose directories' names begin with `prefix`: by SIGTERM, at which they remove
    their clusters, and by SIGKILL after the patience. An owner that lives on restarts what is killed. Returns how many
    owners there were. Raises Failed if one is left."""
    def owners():
        return {owner for owner in map(_owner, directories(prefix)) if owner}

    found = owners()
    for number in (signal.SIGTERM, signal.SIGKILL):
        for owner in owners():
            with contextlib.suppress(ProcessLookupError):
                os.kill(owner, number)
        with contextlib.suppress(Failed):
            await_true("no owner", lambda: not owners(), patience_s)
            return len(found)
    raise Failed(f"expected the owners of clusters to end, got {sorted(owners())}")


def _owner(directory):
    """Returns the ID of the owner of a cluster, or None if it has none."""
    with contextlib.suppress(OSError, ValueError), open(directory / LOCK, encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:  # a janitor lives, and so does its owner
            return int(lock.read())
    return None


def sweep(base, prefix=PREFIX):
    """Removes the clusters under `base` that have lost both owner and janitor, for example to a `kill -9` of both."""
    for directory in Path(base).glob(f"{prefix}*"):
        with contextlib.suppress(OSError), open(directory / LOCK, encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            clean(directory)


def _has_room(path):
    with contextlib.suppress(OSError):
        state = os.statvfs(path)
        return state.f_bavail * state.f_frsize >= 2 << 30 and not state.f_flag & os.ST_NOEXEC
    return False

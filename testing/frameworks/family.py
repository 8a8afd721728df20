"""Runs a command and ends everything that it has started: when the command ends, when SIGTERM comes, and when the
process that started this one dies. torchrun gives each rank a session of its own, so that neither the end of torchrun
nor a signal to its group ends them.

Usage: family.py PARENT COMMAND [ARGUMENT ...], where PARENT is the ID of the process that starts it. The exit status
is that of the command; 1 where a signal ended it, or where SIGTERM came."""

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_SIGNALS = (signal.SIGCHLD, signal.SIGTERM)


def within(command):
    """Returns the command line that runs `command` in a family of its own."""
    return [sys.executable, "-B", __file__, str(os.getpid()), *(str(word) for word in command)]


def descendants(pid):
    """Returns the IDs of all descendants of a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text(encoding="ascii").split():
                found += [int(child), *descendants(child)]
    return found


def _end_all():
    """Kills all descendants. What they start meanwhile becomes a child of this process when its parent dies."""
    while True:
        for pid in descendants(os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _status_of(command):
    """Waits for the command, or for SIGTERM. Returns the exit status."""
    while True:
        if signal.sigwait(_SIGNALS) == signal.SIGTERM:
            return 1
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
                if ended[0] == command:
                    return max(1, os.waitstatus_to_exitcode(ended[1])) if ended[1] else 0


def main(parent, command):
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != int(parent):
        return 1  # it has died before it was watched
    try:
        return _status_of(os.posix_spawnp(command[0], command, os.environ, setsigmask=()))
    finally:
        _end_all()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

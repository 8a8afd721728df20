"""Waits for the end of a cluster's owner and then removes the cluster: python3 -m testing.cluster.rig.janitor DIRECTORY

removal.py starts it.
"""

import contextlib
import fcntl
import os
import signal
import sys
from pathlib import Path

from testing.cluster.rig.removal import LOCK, clean


def main(directory):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with open(directory / f"{LOCK}.new", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        print(os.getppid(), file=lock, flush=True)
        os.rename(lock.name, directory / LOCK)  # so that the lock is never seen free
        print("ready", flush=True)
        sys.stdin.read()
        left = clean(directory)
    if left:
        with contextlib.suppress(BrokenPipeError):
            print(" ".join(left), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

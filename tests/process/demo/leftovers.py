"""Lists what a driver may leave behind, and waits for it to be gone."""

import time
from pathlib import Path

from testing.processes import find_marked


def until(condition, patience_s=10.0):
    """Waits for a condition that another process brings about. Returns whether it came to hold in time."""
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def processes_gone(mark):
    return until(lambda: not find_marked(mark))


def interfaces():
    return sorted(p.name for p in Path("/sys/class/net").iterdir())


def directories(mark):
    return [p for base in ("/dev/shm", "/tmp") for p in Path(base).glob(f"{mark}-*")]

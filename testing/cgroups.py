"""Sets the limits of a container on processes of a run. Each gets a cgroup of its own, of version 1 or 2. Needs root.
"""

import contextlib
import itertools
import os
import time
from pathlib import Path

from testing.processes import Failed

_ROOT = Path("/sys/fs/cgroup")
_PATIENCE_S = 5.0
_numbers = itertools.count()


def _hierarchy(controller):
    """Returns the directory of the hierarchy, and whether it is of version 2."""
    for place in (_ROOT, _ROOT / "unified"):
        controllers = place / "cgroup.controllers"
        # Version 2 can freeze without a controller.
        if controllers.exists() and (controller in controllers.read_text(encoding="ascii").split()
                                     or (controller == "freezer" and not (_ROOT / "freezer").is_dir())):
            return place, True
    if (_ROOT / controller).is_dir():
        return _ROOT / controller, False
    raise Failed(f"no cgroups with {controller} at {_ROOT}")


@contextlib.contextmanager
def _group(controller, pid):
    """Makes a cgroup with this process in it. At the end a process that is still there moves to the top cgroup."""
    place, second = _hierarchy(controller)
    group = place / f"crossover-test-{os.getpid()}-{next(_numbers)}"
    group.mkdir()
    try:
        if second and controller != "freezer":
            (place / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
        (group / "cgroup.procs").write_text(str(pid), encoding="ascii")
        yield group, second
    finally:
        _remove(group, place)


def _remove(group, place):
    end = time.monotonic() + _PATIENCE_S
    while True:
        for pid in (group / "cgroup.procs").read_text(encoding="ascii").split():
            with contextlib.suppress(OSError):
                (place / "cgroup.procs").write_text(pid, encoding="ascii")
        try:
            group.rmdir()
            return
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.01)


def freeze(pid, seconds):
    """Freezes a process and all its threads for some seconds, like a paused container."""
    with _group("freezer", pid) as (group, second):
        file, on, off = ("cgroup.freeze", "1", "0") if second else ("freezer.state", "FROZEN", "THAWED")
        (group / file).write_text(on, encoding="ascii")
        try:
            time.sleep(seconds)
        finally:
            (group / file).write_text(off, encoding="ascii")


@contextlib.contextmanager
def memory_limit(pid, mib):
    """Limits the memory of this process from now on. If it takes more, the kernel kills it."""
    with _group("memory", pid) as (group, second):
        file = "memory.max" if second else "memory.limit_in_bytes"
        (group / file).write_text(str(mib << 20), encoding="ascii")
        yield

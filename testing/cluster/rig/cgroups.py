"""Manages the cgroups of a cluster. Each node has one, and its kubelet keeps those of its pods beneath it."""

import contextlib
import time
from pathlib import Path


def _hierarchies(version):
    """Returns the mount points of the hierarchies of one version of cgroups."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    return [Path(fields[1]) for fields in mounts if fields[2] == version]


def make(name):
    """Creates the cgroup /NAME with every controller that is available."""
    first = _hierarchies("cgroup")
    for root in first:
        group = root / name
        group.mkdir()
        for what in ("cpuset.cpus", "cpuset.mems"):  # new ones are empty, and then no process may enter
            if (group / what).exists():
                (group / what).write_text((root / what).read_text(encoding="ascii"), encoding="ascii")
    for root in [] if first else _hierarchies("cgroup2"):
        (root / name).mkdir()
        controllers = (root / "cgroup.controllers").read_text(encoding="ascii").split()
        wanted = " ".join(f"+{controller}" for controller in controllers)
        for group in (root, root / name):
            (group / "cgroup.subtree_control").write_text(wanted, encoding="ascii")


def find(prefix):
    """Returns all cgroups whose name begins with `prefix`. Beside version 1, a kubelet makes some of version 2, too."""
    roots = _hierarchies("cgroup") + _hierarchies("cgroup2")
    return [group for root in roots for group in root.glob(f"{prefix}*") if group.is_dir()]


def remove(prefix, patience_s=10.0):
    """Removes the cgroups and all beneath them, once their processes have gone. Returns those that are left after
    `patience_s`."""
    end = time.monotonic() + patience_s
    while True:
        for top in find(prefix):
            for group in sorted((g for g in top.rglob("*") if g.is_dir()), key=lambda g: -len(g.parts)) + [top]:
                with contextlib.suppress(OSError):
                    group.rmdir()
        left = find(prefix)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)  # version 1 has no event for the moment when the last process of a cgroup is reaped

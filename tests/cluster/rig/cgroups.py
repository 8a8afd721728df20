"""Cgroups of a cluster: one for each node, under which its kubelet keeps those of its pods."""

import contextlib
import time
from pathlib import Path


def _hierarchies(version):
    """Mount points of the hierarchies of a version of cgroups."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text(encoding="utf-8").splitlines()]
    return [Path(fields[1]) for fields in mounts if fields[2] == version]


def make(name):
    """The cgroup /NAME with every controller at hand."""
    first = _hierarchies("cgroup")
    for root in first:
        group = root / name
        group.mkdir()
        for what in ("cpuset.cpus", "cpuset.mems"):  # without either, as it is made, no process may be in it
            if (group / what).exists():
                (group / what).write_text((root / what).read_text(encoding="ascii"), encoding="ascii")
    for root in [] if first else _hierarchies("cgroup2"):
        (root / name).mkdir()
        controllers = (root / "cgroup.controllers").read_text(encoding="ascii").split()
        wanted = " ".join(f"+{controller}" for controller in controllers)
        for group in (root, root / name):
            (group / "cgroup.subtree_control").write_text(wanted, encoding="ascii")


def find(prefix):
    """All cgroups whose name begins so. Beside version 1, a kubelet makes some of version 2 too."""
    roots = _hierarchies("cgroup") + _hierarchies("cgroup2")
    return [group for root in roots for group in root.glob(f"{prefix}*") if group.is_dir()]


def remove(prefix, patience_s=10.0):
    """Remove them, with what is inside, once their processes have gone; those that stayed."""
    end = time.monotonic() + patience_s
    while True:
        for top in find(prefix):
            for group in sorted((g for g in top.rglob("*") if g.is_dir()), key=lambda g: -len(g.parts)) + [top]:
                with contextlib.suppress(OSError):
                    group.rmdir()
        left = find(prefix)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.02)  # the kernel tells nobody when the last process of a cgroup of version 1 has been reaped

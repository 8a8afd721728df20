"""Lists what a cluster could leave on the machine, and what it could change there."""

from pathlib import Path

from testing.cluster.rig import cgroups
from testing.processes import find_marked

_TUNABLES = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
             "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes", "net/ipv4/ip_forward")
_FOLDERS = ("/run", "/run/netns", "/run/containerd", "/var/lib", "/var/lib/cni", "/var/log", "/etc", "/etc/cdi",
            "/etc/cni", "/opt")


def machine():
    """Returns a description of the machine, to be compared with one taken later."""
    return {
        "mounts": [line.split(" - ")[0].split()[4] for line in _lines("/proc/self/mountinfo")],
        "interfaces": sorted(p.name for p in Path("/sys/class/net").iterdir()),
        "tunables": {name: _lines(f"/proc/sys/{name}") for name in _TUNABLES},
        "folders": {folder: sorted(p.name for p in Path(folder).iterdir()) if Path(folder).exists() else None
                    for folder in _FOLDERS},
    }


def of(directory):
    """Returns what exists of the cluster in a directory. It equals NOTHING once the cluster has ended."""
    return {"processes": find_marked(directory.name), "directory": directory.exists(),
            "cgroups": [str(group) for group in cgroups.find(directory.name)]}


NOTHING = {"processes": [], "directory": False, "cgroups": []}


def _lines(path):
    return Path(path).read_text(encoding="utf-8").splitlines()

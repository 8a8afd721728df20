"""Chooses the versions of Kubernetes and containerd for a cluster, from those that tools/install has a folder for."""

import os
import re
from pathlib import Path

TREE = Path(__file__).resolve().parents[3]
_INSTALL = TREE / "tools/install"
_WITHOUT_CDI = ("1.6",)  # of containerd; 1.7 has CDI, switched off


class Refused(RuntimeError):
    """This is raised if a cluster cannot be had. The text says why and what would help."""


def cache():
    """Returns the folder where the installer puts programs, with a folder for each version."""
    return Path(os.environ.get("CROSSOVER_CACHE") or Path.home() / ".cache" / "crossover")


def kubernetes(wanted=None):
    """Returns the version of Kubernetes that `wanted` names, else KUBE_VERSION, else the installer's default."""
    return _chosen("kube", wanted)


def containerd(wanted=None):
    """Returns the version of containerd that `wanted` names, else CONTAINERD_VERSION, else the installer's default."""
    return _chosen("containerd", wanted)


def default(name):
    """Returns the installer's default version, which is written there only."""
    installer = (_INSTALL / "cluster.sh").read_text(encoding="utf-8")
    return re.search(rf"{name}_default=([0-9.]+)", installer).group(1)


def definitions():
    """Returns the folder with definitions of other projects' custom kinds."""
    installer = (_INSTALL / "cluster.sh").read_text(encoding="utf-8")
    folder = cache() / re.search(r"definitions=\$cache/(.*)", installer).group(1)
    if not folder.exists():
        raise Refused(f"{folder} is missing: tools/install.sh --cluster")
    return folder


def has_cdi(containerd_version):
    """Tells whether this containerd gives containers CDI devices."""
    return not any(begins(containerd_version, old) for old in _WITHOUT_CDI)


def known(name):
    """Returns all versions that can be chosen, the newest first: those of tools/install, and those that the installer
    has put into the cache."""
    return _of_folders(name, [*_INSTALL.glob(f"{name}-[0-9]*"), *cache().glob(f"{name}-[0-9]*")])


def pinned(name):
    """Returns the versions of tools/install, the newest first. It knows those of operators (operators.sh), too."""
    return _of_folders(name, _INSTALL.glob(f"{name}-[0-9]*"))


def _chosen(name, wanted):
    variable = f"{name.upper()}_VERSION"
    text = wanted or os.environ.get(variable) or default(name)
    for version in (*pinned(name), *known(name)):
        if begins(version, text):
            return version
    raise Refused(f"{variable}: expected one of {', '.join(known(name))}, or the beginning of one, got {text}; "
                  "tools/install/cluster.sh makes others")


def begins(version, text):
    """Tells whether a text names a version: in full, or by its beginning up to a point."""
    return version == text or version.startswith(f"{text}.")


def _of_folders(name, folders):
    versions = {folder.name.removeprefix(f"{name}-") for folder in folders if not folder.name.endswith(".part")}
    return sorted(versions, key=_numbers, reverse=True)


def _numbers(version):
    return [int(part) for part in re.findall("[0-9]+", version)]

"""Finds the programs of a cluster: those that tools/install/cluster.sh has installed, else those of the machine."""

import os
import shutil
from pathlib import Path

from testing.cluster.rig import versions
from testing.cluster.rig.versions import Refused


class Programs:
    """Finds the programs of one version of Kubernetes and one of containerd (see versions.py)."""

    def __init__(self, kube_version=None, containerd_version=None):
        self.kube_version = versions.kubernetes(kube_version)
        self.containerd_version = versions.containerd(containerd_version)
        cache = versions.cache()
        unpacked = cache / "cluster-debian-12"
        self._kube = cache / f"kube-{self.kube_version}"
        self._containerd = cache / f"containerd-{self.containerd_version}"
        if (self._containerd / "usr/bin").is_dir():
            self._containerd /= "usr/bin"  # an unpacked Debian package
        self._kwok = cache / ("kwok-" + versions.default("kwok"))
        self._helm = cache / ("helm-" + versions.default("helm"))
        self._kubeconform = cache / ("kubeconform-" + versions.default("kubeconform"))
        self._folders = [
            self._kube, self._containerd, self._kwok, self._helm, self._kubeconform, unpacked / "usr/bin",
            unpacked / "usr/sbin", *map(Path, os.environ.get("PATH", "").split(":")), Path("/usr/sbin"), Path("/sbin")]
        self._cni = [unpacked / "usr/lib/cni", Path("/opt/cni/bin"), Path("/usr/lib/cni")]
        self.check()

    @property
    def search_path(self):
        """Returns the folders as a value for PATH."""
        return ":".join(map(str, self._folders))

    @property
    def cni(self):
        """Returns the folder of the network plugins."""
        return next((folder for folder in self._cni if (folder / "ptp").exists()), None)

    def path(self, name):
        found = shutil.which(name, path=self.search_path)
        if not found:
            raise Refused(f"the program {name} is missing: tools/install.sh --cluster")
        return found

    def check(self):
        """Raises Refused, with the names of all missing programs."""
        built = {self._kube: ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet",
                              "kubectl"), self._containerd: ("containerd", "containerd-shim-runc-v2", "ctr"),
                 self._kwok: ("kwok",), self._helm: ("helm",)}
        missing = [str(folder / name) for folder, names in built.items() for name in names
                   if not os.access(folder / name, os.X_OK)]
        missing += [name for name in ("etcd", "runc", "promtool", "openssl", "gcc", "ip", "mount", "nsenter", "setpriv",
                                      "unshare")
                    if not shutil.which(name, path=self.search_path)]
        if not self.cni:
            missing.append("the CNI plugins ptp and host-local")
        if missing:
            raise Refused(f"missing: {', '.join(missing)}; to install: tools/install.sh --cluster "
                          "(all versions: --matrix)")

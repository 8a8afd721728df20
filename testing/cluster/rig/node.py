"""Runs a node: its namespaces, its containerd, its kubelet, and if wanted its kube-proxy.

A node sees the machine's files, except those that make it a node: /run, /var/lib, /var/log and /etc/cdi are its own and
empty at first, and /etc is the machine's with the node's changes on top. A kubelet can have a directory of its own only
in this way: the path where it listens for device plugins is a constant.
"""

import json
import os
import signal
import socket
import stat
import time
from pathlib import Path

from testing.cluster.rig import cgroups, configuration, containerd, namespaces
from testing.processes import Failed

_OWN = {"run": "/run", "lib": "/var/lib", "log": "/var/log", "cdi": "/etc/cdi"}
# A kubelet sets these for the whole machine unless it finds these values. In a node, files stand in for them.
_TUNABLES = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
             "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}


class Node:
    """A Node runs one node. `directory` is on the machine; `reach` finds a file of the node from outside."""

    cgroup_driver = "cgroupfs"
    kubelet_options = {}  # settings of KubeletConfiguration for such nodes
    patience = 1  # by how much everything takes longer there than on the machine

    def __init__(self, number, setup):
        self.number = number
        self.name = f"node-{number}"
        self.address = setup.families[0].node(number)
        self.directory = setup.directory / self.name
        self.cgroup = f"{setup.directory.name}-{self.name}"  # the root of its kubelet's
        self._setup = setup
        self._namespace = None

    def begin(self, parent):
        """Starts to create the node's namespaces within those of the cluster. `wait` waits for them."""
        self._make_folders(*_OWN, "etc", "etc.work", "tunables", "containerd")
        (self.directory / "lib/kubelet").mkdir()
        # The machine's file may be a link into a /run that the node does not see. The node has no name server anyway.
        (self.directory / "etc/resolv.conf").write_text("", encoding="ascii")
        cgroups.make(self.cgroup)
        routes = (f"echo 1 > /proc/sys/{family.forwarding}" for family in self._setup.families)
        script = [*self._mounts(), *routes, "echo ready", f"exec {self._setup.pause}"]
        self._namespace = namespaces.node(self._setup.mark, parent, " && ".join(script))
        return self

    def wait(self):
        self._namespace.wait()

    def wire(self, control_plane, others):
        """Connects the node to the control plane's namespace, with routes to the pods of nodes of other numbers."""
        namespaces.wire(control_plane, self.number, self._namespace, others, self._setup.families)

    def end(self):
        if self._namespace:
            self._namespace.end()

    @property
    def pid(self):
        """Returns a process in the node's namespaces, for `nsenter`."""
        return self._namespace.pid

    def enter(self, command, kinds=("net", "mount", "pid")):
        """Returns the command line that runs `command` on the node: in its network and mount namespaces and in the
        cluster's PID namespace."""
        return self._namespace.enter(command, kinds)

    def reach(self, path):
        """Returns the path by which a file of the node is seen from outside."""
        return Path(f"/proc/{self.pid}/root{path}")

    def make_device_files(self, names):
        """Creates null devices of these names in /dev, which is the node's own from then on. What was mounted below
        /dev/shm before is not seen there any more."""
        at = self.directory
        (at / "dev").mkdir()
        (at / "dev.work").mkdir()
        for name in names:
            os.mknod(at / "dev" / name, stat.S_IFCHR | 0o666, os.stat(os.devnull).st_rdev)
            (at / "dev" / name).chmod(0o666)
        # The new mount hides what is mounted below it. Descriptors that were opened before still reach it.
        inner = {3: "/dev/shm", 4: "/dev/pts"}
        script = [f"exec {' '.join(f'{fd}< {path}' for fd, path in inner.items())}",
                  f"mount -t overlay -o lowerdir=/dev,upperdir={at}/dev,workdir={at}/dev.work overlay /dev",
                  *(f"mount --no-canonicalize --bind /proc/self/fd/{fd} {path}" for fd, path in inner.items())]
        self._setup.run(self.enter(["sh", "-c", " && ".join(script)]))

    def keep_in_memory(self, folder):
        """Makes sure that programs can map the files of a folder of this machine together. Here they can."""

    def start_containerd(self):
        config = self.directory / "containerd.toml"
        config.write_text(containerd.configuration(self.images, self.directory / "cni", self._setup.programs,
                                                   self.cgroup_driver), encoding="utf-8")
        network = configuration.pod_network(self.number, self._setup.families)
        (self.directory / "cni/10-pods.conflist").write_text(json.dumps(network), encoding="utf-8")
        self._start("containerd", ["--config", str(config)])

    @property
    def images(self):
        """Returns the folder of the node's containerd."""
        return self.directory / "containerd"

    def wait_for_containerd(self, deadline_s=30.0):
        """Blocks until containerd listens. A client that finds no socket waits for ten seconds before it tries again,
        so none is started before."""
        end = time.monotonic() + deadline_s
        while not self._listens():
            if time.monotonic() > end:
                raise Failed(f"containerd of {self.name} does not listen: {self._last_words('containerd')}")
            time.sleep(0.02)

    def load_image(self, archive):
        """Returns the command that brings an image (images.py) to the node."""
        return [*self._ctr(), "images", "import", str(archive)]

    def start_kubelet(self):
        config = self.directory / "kubelet.json"
        config.write_text(json.dumps(configuration.kubelet(self, self._setup)), encoding="utf-8")
        addresses = ",".join(family.node(self.number) for family in self._setup.families)
        self._start("kubelet", [
            "--config", str(config), "--kubeconfig", str(self._setup.kubeconfig(self.name)),
            "--hostname-override", self.name, "--node-ip", addresses,
            "--cert-dir", str(self.directory / "kubelet-pki"), "--v", "2"])

    def stop_kubelet(self, kill=False):
        """Ends the kubelet, as an upgrade or a crash does. Pods run on. `start_kubelet` starts it again."""
        name = f"kubelet-{self.number}"
        if kill:
            self._setup.processes.signal(name, signal.SIGKILL)
        self._setup.processes.stop([name], 10.0)

    def kill_containers(self, deadline_s=60.0):
        """Kills all processes of pods, as a reboot does. Blocks until containerd knows that they have ended: a kubelet
        that starts before keeps a pod whose container it takes for running, and asks nothing for its devices."""
        ctr = [*self._ctr(), "tasks"]
        for task in self._setup.run([*ctr, "list", "--quiet"]).split():
            self._setup.run([*ctr, "kill", "--signal", "SIGKILL", "--all", task])
        end = time.monotonic() + deadline_s
        while left := self._setup.run([*ctr, "list", "--quiet"]).split():
            if time.monotonic() > end:
                raise Failed(f"{self.name}: {len(left)} containers have not ended within {deadline_s:.0f} s")
            time.sleep(0.1)

    def start_proxy(self):
        self._setup.start_proxy(self.name, self.address, self.enter)

    @property
    def _socket(self):
        return self.directory / "run/containerd/containerd.sock"

    def _make_folders(self, *names):
        for name in (*names, "cni"):
            (self.directory / name).mkdir(parents=True)

    def _listens(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self._socket)) == 0

    def _start(self, program, arguments):
        command = self.enter([self._setup.programs.path(program), *arguments])
        self._setup.start(f"{program}-{self.number}", command)

    def _ctr(self):
        return [self._setup.programs.path("ctr"), "--address", str(self._socket), "--namespace", "k8s.io"]

    def _last_words(self, program):
        return self._setup.processes.last_words(f"{program}-{self.number}")

    def _mounts(self):
        """Returns the commands that give a new mount namespace the node's own files."""
        at = self.directory
        for key, value in _TUNABLES.items():
            (at / "tunables" / key.replace("/", ".")).write_text(f"{value}\n", encoding="ascii")
        # Mounts are shared within the node alone: what a pod mounts with propagation reaches the other pods.
        return ["mount --make-rshared /",
                f"mount -t overlay -o lowerdir=/etc,upperdir={at}/etc,workdir={at}/etc.work overlay /etc",
                "mkdir -p /etc/cdi",
                *(f"mount --bind {at}/{name} {path}" for name, path in _OWN.items()),
                *(f"mount --bind {at}/tunables/{key.replace('/', '.')} /proc/sys/{key}" for key in _TUNABLES)]

"""Runs a node of a cluster as a virtual machine.

It has a kernel of its own, control groups of version 2 and a systemd, which makes the groups of pods: the kubelet and
containerd use the cgroup driver `systemd`. Programs and the cluster's files come from the machine, at the same paths.
"""

import subprocess

from testing.cluster.rig import namespaces, versions
from testing.cluster.rig.families import IPV4
from testing.cluster.rig.node import Node
from testing.cluster.vm.far_path import FarPath
from testing.cluster.vm.machine import Machine, Shared
from testing.processes import Failed

_PATIENCE = 8  # software emulates the processor


class VmNode(Node):
    """A VmNode is a node of a cluster in a virtual machine. Programs that it runs must be in the tree or in the
    installers' cache. `freeze` of a process on it is not possible."""

    cgroup_driver = "systemd"
    kubelet_options = {"failCgroupV1": True, "nodeStatusUpdateFrequency": "3s"}
    patience = _PATIENCE

    def __init__(self, number, setup):
        super().__init__(number, setup)
        self.cgroup = ""  # the kubelet's group is at the top, as on nodes of clouds
        shared = [Shared(setup.directory, writable=True), Shared(versions.cache()), Shared(versions.TREE)]
        self._machine = Machine(f"vm-{self.name}", self.address, setup, self.directory, shared)
        self._outside = None

    def begin(self, parent):
        self._outside = parent
        self._make_folders()
        namespaces.wire_tap(parent, self.number)
        script = [*(f"ip {command}" for command in namespaces.own_wire(self.number, (), (IPV4,))),
                  "echo 1 > /proc/sys/net/ipv4/ip_forward", "mkdir -p /etc/cdi /var/lib/kubelet",
                  f"echo {self.name} > /proc/sys/kernel/hostname"]
        self._machine.start(parent.enter, namespaces.port(self.number), script)
        return self

    def wait(self):
        self._machine.wait(self.enter)

    def wire(self, control_plane, others):
        routes = [f"ip {command}" for command in namespaces.routes_to_pods(others, (IPV4,))]
        self.run(["sh", "-c", " && ".join(["true", *routes])])

    def end(self):
        pass  # the machine is one of the cluster's processes

    @property
    def pid(self):
        raise Failed(f"{self.name} is a virtual machine: no process of it is seen from outside")

    def enter(self, command, kinds=("net", "mount", "pid")):
        """Returns the command line that runs `command` in the virtual machine, as root."""
        return self._outside.enter(self._machine.enter(command), ("net",))

    def run(self, command):
        """Runs a short command there and returns what it prints."""
        return self._setup.run(self.enter(command))

    def reach(self, path):
        return FarPath(self.enter, path)

    def make_device_files(self, names):
        """Creates null devices of these names in /dev."""
        self.run(["sh", "-c", " && ".join(["true", *(f"mknod -m 666 /dev/{name} c 1 3" for name in names)])])

    def keep_in_memory(self, folder):
        """Gives the virtual machine a copy of a folder of this machine, which is its own from then on. What programs
        map together must be such a folder: what comes from outside cannot be mapped for writing."""
        self.run(["sh", "-c", 'cp -a "$1" /run/kept && mount -t tmpfs -o mode=$(stat -c %a "$1") tmpfs "$1" && '
                              'cp -a /run/kept/. "$1" && rm -r /run/kept', "sh", str(folder)])

    @property
    def images(self):
        return "/var/lib/containerd"

    @property
    def _socket(self):
        return "/run/containerd/containerd.sock"

    def _listens(self):
        probe = ("import socket, sys; sys.exit(socket.socket(socket.AF_UNIX).connect_ex(sys.argv[1]))")
        return subprocess.run(self.enter(["/usr/bin/python3", "-c", probe, self._socket]), capture_output=True,
                              check=False).returncode == 0

    def _ctr(self):
        return self.enter(super()._ctr())

    def _start(self, program, arguments):
        """Starts a daemon in a scope of systemd's, below which it may make groups."""
        scope = ["systemd-run", "--scope", "--quiet", "--collect", "--slice=system.slice", "--property=Delegate=yes"]
        command = self.enter([*scope, self._setup.programs.path(program), *arguments])
        self._setup.start(f"{program}-{self.number}", command)

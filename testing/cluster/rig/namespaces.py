"""Creates the namespaces of a cluster. One process keeps each of them and does nothing else.

One network, mount and PID namespace is for the whole cluster. The control plane runs in it, and so do the nodes, each
in a network and a mount namespace of its own. Its first process ends with the process that made it. The kernel then
ends every process in it, with containers and their shims; mounts and interfaces go with them. The host never sees any
of these. The addresses are those of families.py.
"""

import os
import signal
import subprocess

from testing.cluster.rig.families import IPV4
from testing.cluster.rig.versions import Refused
from testing.processes import MARK, dying_with_parent, only_child


class Namespace:
    """A Namespace is a set of namespaces and the process that keeps them. That keeper dies with this process."""

    def __init__(self, mark, command, depth):
        """Starts the keeper. `command` prints "ready" when the namespaces are set up; `depth` counts the forks down to
        the keeper."""
        self._process = subprocess.Popen(dying_with_parent(command), env={**os.environ, MARK: mark}, text=True,
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._depth = depth
        self.pid = 0

    def wait(self):
        """Blocks until the namespaces are set up. Raises Refused, with the tool's own words, if that is not permitted
        here."""
        first = self._process.stdout.readline().strip()
        if first != "ready":
            raise Refused(f"namespaces: {first or 'unshare ended without a word'}; this needs root")
        self.pid = self._process.pid
        for _ in range(self._depth):
            parent, self.pid = self.pid, only_child(self.pid, 2.0)
            if not self.pid:
                raise Refused(f"process {parent} has not forked")

    def end(self):
        """Ends the keeper. Everything in its PID namespace has ended when this returns."""
        if self._process.poll() is None:
            os.kill(self.pid or self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()

    def enter(self, command, kinds=("net", "mount", "pid")):
        """Returns the command line that runs `command` in the namespaces. With "pid" it also ends with the cluster."""
        return ["nsenter", "--target", str(self.pid), *(f"--{kind}" for kind in kinds), "--", *command]


def cluster(mark, pause, families):
    """Creates the cluster's own namespaces. `pause` is the program that keeps them."""
    # The cluster has its own /run, because iptables keeps its lock there.
    script = ["mount -t tmpfs tmpfs /run", "ip link set lo up", "ip link add br0 type bridge", "ip link set br0 up",
              *(f"ip {command}" for family in dict.fromkeys((IPV4, *families)) for command in _own_network(family)),
              "echo ready", f"exec {pause}"]
    kinds = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return Namespace(mark, ["unshare", *kinds, "--", "sh", "-c", " && ".join(script)], depth=1)


def _own_network(family):
    return [_address(family.control_plane, family.hosts, "br0"),
            _address(family.api_service, 128 if ":" in family.api_service else 32, "br0"),
            f"route add {family.services} dev br0"]


def _address(address, prefix, device):
    # Nothing else has the address, so it need not be looked for before its use.
    return f"addr add {address}/{prefix} dev {device}" + (" nodad" if ":" in address else "")


def node(mark, parent, script):
    """Creates a node's network and mount namespace within the cluster's namespaces."""
    return Namespace(mark, parent.enter(["unshare", "--net", "--mount", "--", "sh", "-c", script]), depth=1)


def wire(switch, number, node, others, families):
    """Connects a node's namespace to the control plane's with a veth pair, and adds routes to the pods of that node and
    of nodes with other numbers."""
    _ip(switch, [f"link add {port(number)} type veth peer name eth0 netns {node.pid}", *plugged(number, families)])
    _ip(node, [*own_wire(number, others, families)])


def wire_tap(switch, number):
    """Adds a network device to the control plane's namespace, for a virtual machine that is a node."""
    _ip(switch, [f"tuntap add dev {port(number)} mode tap", *plugged(number, (IPV4,))])


def port(number):
    """Returns the name of the control plane's network device for a node."""
    return f"port{number}"


def plugged(number, families):
    """Returns the commands of `ip` that the control plane's end of a node's wire needs."""
    return [f"link set {port(number)} master br0 up", *routes_to_pods([number], families)]


def own_wire(number, others, families):
    """Returns the commands of `ip` that a node needs."""
    return ["link set lo up", *(_address(family.node(number), family.hosts, "eth0") for family in families),
            "link set eth0 up", *(f"route add {family.everywhere} via {family.control_plane}" for family in families),
            *routes_to_pods(others, families)]


def routes_to_pods(numbers, families):
    """Returns the commands of `ip` that add routes to the pods of nodes."""
    return [f"route add {family.pods_of(number)} via {family.node(number)}" for number in numbers
            for family in families]


def _ip(namespace, commands):
    done = subprocess.run(namespace.enter(["ip", "-batch", "-"], ("net",)), input="\n".join(commands) + "\n",
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"ip: {done.stderr.strip()}")

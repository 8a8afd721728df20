"""Creates the namespaces of a cluster. One process keeps each of them and does nothing else.

One network, mount and PID namespace is for the whole cluster. The control plane runs in it, and so do the nodes, each
in a network and a mount namespace of its own. Its first process ends with the process that made it. The kernel then
ends every process in it, with containers and their shims; mounts and interfaces go with them. The host never sees any
of these.

    10.77.0.1   the control plane, on the bridge br0         10.78.N.0/24   pods of node N
    10.77.0.1N  node N, on its eth0                          10.79.0.0/24   services; 10.79.0.1 is the API server
"""

import os
import signal
import subprocess

from testing.cluster.rig.versions import Refused
from testing.processes import MARK, dying_with_parent, only_child

CONTROL_PLANE = "10.77.0.1"
SERVICES = "10.79.0.0/24"
API_SERVICE = "10.79.0.1"


def node_address(number):
    return f"10.77.0.{10 + number}"


def pods_of(number):
    return f"10.78.{number}.0/24"


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


def cluster(mark, pause):
    """Creates the cluster's own namespaces. `pause` is the program that keeps them."""
    # The cluster has its own /run, because iptables keeps its lock there.
    script = (f"mount -t tmpfs tmpfs /run && ip link set lo up && ip link add br0 type bridge && "
              f"ip addr add {CONTROL_PLANE}/24 dev br0 && ip addr add {API_SERVICE}/32 dev br0 && "
              f"ip link set br0 up && ip route add {SERVICES} dev br0 && echo ready && exec {pause}")
    kinds = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return Namespace(mark, ["unshare", *kinds, "--", "sh", "-c", script], depth=1)


def node(mark, parent, script):
    """Creates a node's network and mount namespace within the cluster's namespaces."""
    return Namespace(mark, parent.enter(["unshare", "--net", "--mount", "--", "sh", "-c", script]), depth=1)


def wire(switch, number, node, others):
    """Connects a node's namespace to the control plane's with a veth pair, and adds routes to the pods of that node and
    of nodes with other numbers."""
    _ip(switch, [f"link add {port(number)} type veth peer name eth0 netns {node.pid}", *plugged(number)])
    _ip(node, [*own_wire(number, others)])


def wire_tap(switch, number):
    """Adds a network device to the control plane's namespace, for a virtual machine that is a node."""
    _ip(switch, [f"tuntap add dev {port(number)} mode tap", *plugged(number)])


def port(number):
    """Returns the name of the control plane's network device for a node."""
    return f"port{number}"


def plugged(number):
    """Returns the commands of `ip` that the control plane's end of a node's wire needs."""
    return [f"link set {port(number)} master br0 up", f"route add {pods_of(number)} via {node_address(number)}"]


def own_wire(number, others):
    """Returns the commands of `ip` that a node needs."""
    return ["link set lo up", f"addr add {node_address(number)}/24 dev eth0", "link set eth0 up",
            f"route add default via {CONTROL_PLANE}",
            *(f"route add {pods_of(other)} via {node_address(other)}" for other in others)]


def _ip(namespace, commands):
    done = subprocess.run(namespace.enter(["ip", "-batch", "-"], ("net",)), input="\n".join(commands) + "\n",
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"ip: {done.stderr.strip()}")

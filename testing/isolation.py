"""Makes nodes of namespaces on one machine, or plain processes if namespaces are refused.

A node is a network, a PID and a mount namespace. One process, the node's PID 1, keeps them. A bridge in a namespace
of its own joins the nodes. Nothing of them has a name on the host: no entry in /run/netns, no interface, no address.
All of it ends with the keepers, and the kernel ends those with the driver process.
"""

import contextlib
import os
import shutil
import signal
import subprocess

from testing.processes import MARK, dying_with_parent, only_child

_KEEPER = ("mount -t tmpfs -o size=1m tmpfs /run && mkdir -p /run/crossover && ip link set lo up && "
           "echo ready && exec sleep infinity")
_SWITCH = "ip link set lo up && ip link add br0 type bridge && ip link set br0 up && echo ready && exec sleep infinity"


class Refused(RuntimeError):
    """Namespaces are not available here; the text says which step was refused."""


class Plain:
    """No isolation: every node is this machine, at its loopback address."""

    isolated = False
    says = "without namespaces: both nodes share this machine's network, processes and mounts"

    def address(self, node):
        return "127.0.0.1"

    def socket(self, node, directory):
        """Returns where the arbiter of a node listens."""
        return str(directory / f"node{node}" / "arbiter.sock")

    def reach(self, node, path):
        """Returns the path by which this process sees a node's file."""
        return path

    def on_node(self, node, command):
        """Returns `command`, changed to run on a node."""
        return list(command)

    def as_client(self, node, command):
        """Returns `command`, changed to run as a pod's process on a node."""
        return list(command)


class Namespaces:
    """Isolated nodes: network, PID and mount namespaces for each node; PID, IPC and mount namespaces for each client.
    """

    isolated = True
    says = ("each node in its own network, PID and mount namespaces, each client in its own PID and IPC namespaces; "
            "nodes share TCP alone (and the directory that stands for the hardware)")

    def __init__(self, nodes, mark):
        self._nodes = nodes
        self._mark = mark
        self._keepers = []
        self._pids = []
        self._switch = 0

    def build(self):
        """Sets everything up. If it may not, it raises Refused and leaves nothing behind."""
        try:
            self._build()
        except BaseException:
            self.tear_down()
            raise

    def tear_down(self):
        """Ends every process on the nodes, and with them the nodes. May be called twice."""
        # A namespace's PID 1 goes first: the kernel then ends everything in it before its keeper's wait returns.
        for pid in self._pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for keeper in reversed(self._keepers):
            if keeper.pid == self._switch or keeper.poll() is not None:
                keeper.kill()
            try:
                keeper.wait(2.0)
            except subprocess.TimeoutExpired:
                keeper.kill()
                keeper.wait()
            keeper.stdout.close()
        self._keepers, self._pids = [], []

    def address(self, node):
        return f"10.77.0.{node + 1}"

    def socket(self, node, directory):
        return "/run/crossover/arbiter.sock"

    def reach(self, node, path):
        return f"/proc/{self._pids[node]}/root{path}"

    def on_node(self, node, command):
        return _enter(self._pids[node], ["--net", "--mount", "--pid"], command)

    def as_client(self, node, command):
        inner = ["unshare", "--pid", "--ipc", "--mount", "--fork", "--kill-child", "--mount-proc", "--", *command]
        return self.on_node(node, inner)

    def _build(self):
        for tool in ("unshare", "nsenter", "ip", "setpriv"):
            if not shutil.which(tool):
                raise Refused(f"the program {tool} is not installed")
        self._switch = self._keep(["--net"], _SWITCH)
        for node in range(self._nodes):
            pid = self._keep(["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"], _KEEPER)
            self._pids.append(pid)
            self._wire(pid, node)

    def _keep(self, namespaces, script):
        """Starts a keeper. Returns the PID, as seen from here, of the process inside its namespaces."""
        env = {**os.environ, MARK: self._mark}
        command = dying_with_parent(["unshare", *namespaces, "--", "sh", "-c", script])
        keeper = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        self._keepers.append(keeper)
        first = keeper.stdout.readline().strip()
        if first != "ready":
            raise Refused(first or "unshare ended without a word")
        if "--fork" not in namespaces:
            return keeper.pid
        child = only_child(keeper.pid, 1.0)
        if not child:
            raise Refused(f"process {keeper.pid} has not forked")
        return child

    def _wire(self, pid, node):
        """Connects the switch to the node's eth0. Both ends are created inside the namespaces, so the host never sees
        them."""
        port = f"port{node}"
        for inside, words in (
                (self._switch, ["link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(pid)]),
                (self._switch, ["link", "set", port, "master", "br0", "up"]),
                (pid, ["addr", "add", f"{self.address(node)}/24", "dev", "eth0"]),
                (pid, ["link", "set", "eth0", "up"])):
            done = subprocess.run(_enter(inside, ["--net"], ["ip", *words]), capture_output=True, text=True)
            if done.returncode != 0:
                raise Refused(f"ip {' '.join(words)}: {done.stderr.strip()}")


def _enter(pid, namespaces, command):
    return ["nsenter", "--target", str(pid), *namespaces, "--", *command]


@contextlib.contextmanager
def nodes(count, mark, wanted=True):
    """Yields (nodes, why isolation was refused or ""). The nodes are namespaces if these are available and wanted."""
    refused = ""
    isolated = Namespaces(count, mark)
    if wanted:
        try:
            isolated.build()
        except (Refused, OSError) as refusal:
            refused = str(refusal)
    try:
        yield (isolated if wanted and not refused else Plain()), refused
    finally:
        isolated.tear_down()

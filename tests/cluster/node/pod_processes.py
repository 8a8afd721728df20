"""Finds the processes of a pod on its node, and starts others among them: as a program of the pod's user does."""

import json
import subprocess

from testing.cluster.rig.versions import TREE
from testing.processes import await_true

ARBITER_SOCKET = "/run/crossover/arbiter/arbiter.sock"  # on a node
# Prints the control groups of the process of this name whose groups name a pod.
_FIND = """
import pathlib, sys
name, uids = sys.argv[1], (sys.argv[2], sys.argv[2].replace("-", "_"))
for process in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        groups = (process / "cgroup").read_text()
        if (process / "comm").read_text().strip() == name and any(uid in groups for uid in uids):
            sys.exit(print(groups, end=""))
    except OSError:
        pass
"""
# Joins the control groups that are its arguments, and makes those that are not there. Then it asks the arbiter to let
# it take turns, as the library does: again, if it is too young. Before Linux 6.5 an arbiter lets no process in that has
# just begun.
_CLIENT = """
import json, os, pathlib, socket, sys, time
from testing import wire
from testing.processes import Failed
path, gpu, groups = json.loads(sys.argv[1])
for group in groups:
    pathlib.Path(group).mkdir(parents=True, exist_ok=True)
    (pathlib.Path(group) / "cgroup.procs").write_text("0")
def ask():
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.connect(path)
    try:
        wire.join(client, "says-so", gpu)
        return client, "joined"
    except (OSError, Failed) as failure:
        return client, f"refused: {failure}"
while "has just begun" in (answer := ask())[1]:
    time.sleep(0.1)
print(answer[1], flush=True)
time.sleep(3600)
"""


def groups_of(node, name, uid):
    """Returns the text of /proc/PID/cgroup of a process of this name in a pod; "" if there is none."""
    done = subprocess.run(node.enter(["/usr/bin/python3", "-c", _FIND, name, uid]), capture_output=True, text=True,
                          check=True)
    return done.stdout


class Client:
    """A Client is a context: a process in control groups of a node, which asks that node's arbiter for turns on a
    GPU."""

    def __init__(self, cluster, node, gpu, groups):
        self._cluster, self._node = cluster, node
        self._wanted = json.dumps([ARBITER_SOCKET, gpu, list(groups)])
        self._log = cluster.setup.logs / "client.log"

    def __enter__(self):
        self._log.unlink(missing_ok=True)
        command = self._node.enter(["/usr/bin/python3", "-B", "-c", _CLIENT, self._wanted])
        self._cluster.processes.start("client", command, env={"PYTHONPATH": str(TREE)}, log=self._log)
        await_true("an answer of the arbiter", lambda: self.answer, 30.0 * self._cluster.patience)
        return self

    def __exit__(self, *exc):
        self._cluster.processes.stop(["client"])

    @property
    def answer(self):
        """Returns "joined", or "refused" and why; "" while there is none."""
        lines = self._log.read_text(errors="replace").splitlines()
        return next((line for line in lines if line.startswith(("joined", "refused"))), "")

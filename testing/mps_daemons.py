"""Runs a control daemon of MPS on each node of a run."""

import os
import subprocess
import time

from testing import commands
from testing.processes import Failed

_PATIENCE_S = 5.0


class MpsDaemons:
    """Starts the control daemons and talks to them. `directory` is that of the run."""

    def __init__(self, build, nodes, processes, directory):
        self._build, self._nodes, self._processes, self._directory = build, nodes, processes, directory

    def start(self, nodes):
        """Starts the daemons of so many nodes, and waits until they serve clients."""
        for node in range(nodes):
            self._folder(node).mkdir(parents=True)
            command = self._nodes.on_node(node, commands.mps_command(self._build, "-f"))
            self._processes.start(_name(node), command, self.environment(node),
                                  self._directory / "logs" / _name(node))
        for node in range(nodes):
            self._await(node)

    def environment(self, node):
        """Returns the environment of a client on a node."""
        return {"CUDA_MPS_PIPE_DIRECTORY": str(self._folder(node))}

    def ask(self, node, line):
        """Sends a line to the daemon of a node. Returns its answer, without the last end of line."""
        command = self._nodes.on_node(node, commands.mps_command(self._build))
        return subprocess.run(command, input=f"{line}\n", env={**os.environ, **self.environment(node)},
                              capture_output=True, text=True, check=True).stdout.strip()

    def clients(self, node):
        """Returns how many clients the servers on a node have."""
        return sum(len(self.ask(node, f"get_client_list {server}").split())
                   for server in self.ask(node, "get_server_list").split())

    def kill_server(self, node):
        """Kills the server that the daemon of a node has started, whose ID is one of the node's."""
        command = ["kill", "-KILL", self.ask(node, "get_server_list")]
        subprocess.run(self._nodes.on_node(node, command), check=True, capture_output=True)

    def _folder(self, node):
        return self._directory / "mps" / str(node)

    def _await(self, node):
        end = time.monotonic() + _PATIENCE_S
        while not (self._folder(node) / "nvidia-cuda-mps-control.pid").exists():
            if not self._processes.alive(_name(node)) or time.monotonic() > end:
                raise Failed(f"{_name(node)} serves no client; its last words: "
                             f"{self._processes.last_words(_name(node))}")
            time.sleep(0.02)


def _name(node):
    return f"mps{node}"

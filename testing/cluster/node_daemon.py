"""Runs the node daemon on the nodes of a test cluster, with the rights that manifests/ grant it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from testing import logs
from testing.cluster.pods import SLOT
from testing.processes import Failed

NAMESPACE = "crossover-system"
_ACCOUNT = "crossover-deviceplugin"
_MPS = "/run/crossover/mps"
_PIPE = {"CUDA_MPS_PIPE_DIRECTORY": f"{_MPS}/pipe"}
_KILL = "import os, sys; os.kill(int(sys.argv[1]), int(sys.argv[2]))"
_ENDS_WITHIN_S = 10.0
_SLOTS_PER_GPU = 2  # two jobs fill a GPU, unless a test says otherwise
_MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"


def apply_manifests(cluster):
    """Creates our custom resource definitions and the daemon's roles."""
    for folder in ("crds", "rbac"):
        cluster.kubectl("apply", "--server-side", "--filename", str(_MANIFESTS / folder))
    for kind in ("gpunodes", "jobprofiles"):
        cluster.kubectl("wait", "--for=condition=Established", f"crd/{kind}.crossover.dev")


def token_of(cluster, node):
    """Returns a token for a node's daemon. It is bound to the node, as those of a DaemonSet's pods are."""
    return cluster.kubectl("create", "token", _ACCOUNT, "--namespace", NAMESPACE, "--bound-object-kind", "Node",
                           "--bound-object-name", node.name).strip()


class MpsDaemon:
    """Runs the MPS control daemon for software GPUs as a process of a node."""

    def __init__(self, cluster, node, build):
        self._cluster, self._node, self._program = cluster, node, build.program("nvidia-cuda-mps-control")
        self._name = f"mps-{node.name}"

    def start(self, strict=False, options=(), **environment):
        """Starts it. With `strict`, a client that is killed takes the other clients along."""
        for name in ("pipe", "shm"):
            self._node.reach(f"{_MPS}/{name}").mkdir(parents=True, exist_ok=True)
        self._node.reach(f"{_MPS}/shm").chmod(0o1777)
        self._cluster.processes.start(
            self._name, self._node.enter([str(self._program), "-f", *options]),
            env={**_PIPE, **({"SIMGPU_MPS_STRICT": "1"} if strict else {}), **environment},
            log=self._cluster.setup.logs / f"{self._name}.log")

    def stop(self):
        self._cluster.processes.stop([self._name])

    def said(self):
        return (self._cluster.setup.logs / f"{self._name}.log").read_text(errors="replace")

    def ask(self, line):
        """Returns what the control daemon answers to a command."""
        return subprocess.run(self._node.enter([str(self._program)]), input=f"{line}\n", capture_output=True, text=True,
                              check=True, env={**os.environ, **_PIPE}).stdout.strip()

    def server(self):
        """Returns the process ID of the only server on its node, or "" if there is none."""
        return self.ask("get_server_list")

    def signal_server(self, number):
        subprocess.run(self._node.enter([sys.executable, "-c", _KILL, self.server(), str(int(number))]), check=True)

    def freeze(self):
        """Stops the control daemon's process (SIGSTOP) until `thaw`."""
        self._cluster.processes.signal(self._name, signal.SIGSTOP)

    def thaw(self):
        """Continues the control daemon and the processes that lead to it."""
        for pid in self._cluster.processes.family(self._name):
            os.kill(pid, signal.SIGCONT)


class NodeDaemons:
    """Runs one daemon per node, as a process of the node."""

    def __init__(self, cluster, gpus, build, settings=(), node_settings=(), mps=True):
        """`settings` overrides the configuration and `node_settings` its part for nodes. `mps` starts the MPS control
        daemon on each node."""
        self._cluster, self._gpus, self._build = cluster, gpus, build
        self._mps = mps
        self._settings = dict(settings)
        self._node_settings = {"slots_per_gpu": _SLOTS_PER_GPU, **dict(node_settings)}
        self._directory = cluster.directory / "daemons"
        self._directory.mkdir()

    def start(self):
        """Starts a daemon on all nodes and blocks until each node has its slots."""
        cluster = self._cluster
        cluster.namespace(NAMESPACE, enforce="privileged")
        apply_manifests(cluster)
        for number, node in enumerate(cluster.nodes):
            self._gpus.install(number, node)
            if self._mps:
                MpsDaemon(cluster, node, self._build).start()
            self.start_on(number)
        slots = str(self.slots)
        for node in cluster.nodes:
            cluster.wait_for("node", node.name, lambda n: n["status"].get("allocatable", {}).get(SLOT) == slots)

    @property
    def slots(self):
        """Returns the number of slots of a node."""
        of_gpu = self._node_settings["slots_per_gpu"] if self._mps else 1
        return of_gpu * self._gpus.machine.gpus_per_node

    def configure(self, node, settings=(), node_settings=()):
        """Writes the configuration of a node's daemon, which reads it every second. `settings` override the others."""
        whole = self._config(node, dict(node_settings))
        draft = self._file(node).with_suffix(".draft")
        draft.write_text(json.dumps(whole | dict(settings)), encoding="utf-8")
        draft.rename(self._file(node))

    def start_on(self, number, **node_settings):
        """Starts the daemon of a node. `node_settings` override those of all nodes."""
        node = self._cluster.nodes[number]
        self._token_file(node).write_text(token_of(self._cluster, node), encoding="utf-8")
        self.configure(node, node_settings=node_settings)
        self._cluster.setup.start(
            self._name(node), node.enter([str(self._build.daemon), "--config", str(self._file(node))]),
            env=self._gpus.environment(number), product=True)

    def end_on(self, number, kill=False):
        """Asks the daemon to end, or kills it. It has ended when this returns."""
        name = self._name(self._cluster.nodes[number])
        self._cluster.processes.signal(name, signal.SIGKILL if kill else signal.SIGTERM)
        end = time.monotonic() + _ENDS_WITHIN_S * self._cluster.patience
        while self._cluster.processes.alive(name):
            if time.monotonic() > end:
                raise Failed(f"{name} still runs {_ENDS_WITHIN_S:.0f} s after it was asked to end")
            time.sleep(0.002)

    def freeze(self, number):
        """Stops the daemon's process (SIGSTOP) until `thaw`."""
        self._cluster.processes.signal(self._name(self._cluster.nodes[number]), signal.SIGSTOP)

    def thaw(self, number):
        """Continues the daemon and the processes that lead to it. nsenter, its parent, stops along with it and would
        otherwise never see it end."""
        for pid in self.processes(number):
            os.kill(pid, signal.SIGCONT)

    def processes(self, number):
        """Returns the IDs of the daemon's process and of those that lead to it."""
        return self._cluster.processes.family(self._name(self._cluster.nodes[number]))

    def trace(self, node):
        """Returns the daemon's events."""
        return logs.read_traces([self._trace_file(node)])

    def trace_tail(self, node):
        """Returns a reader of the events that the daemon writes from now on."""
        tail = logs.TraceTail(self._trace_file(node))
        tail.news()
        return tail

    def said(self, node):
        return (self._cluster.setup.logs / f"daemon-{node.name}.log").read_text(errors="replace")

    def check(self):
        """Raises Failed if a daemon has ended that no test ended."""
        self._cluster.setup.check()

    def _file(self, node):
        return self._directory / f"{node.name}.json"  # JSON is YAML, too

    def _token_file(self, node):
        return self._directory / f"{node.name}.token"

    def _trace_file(self, node):
        return self._directory / f"{node.name}.trace.jsonl"

    @staticmethod
    def _name(node):
        return f"daemon-{node.name}"

    def _config(self, node, node_settings):
        return {"socket": {"path": "/run/crossover/arbiter/arbiter.sock"},
                "api": {"socket": "/run/crossover/api.sock"},
                "trace_file": str(self._trace_file(node)),
                "profiles": "off",
                "node": {"name": node.name, "namespace": NAMESPACE,
                         **({"cgroup_root": node.cgroup} if node.cgroup else {}),
                         "metrics_readers": "everybody",
                         "library": str(self._build.library),
                         "mps_control": str(self._build.program("nvidia-cuda-mps-control")),
                         "api_server": {"server": self._cluster.server,
                                        "ca_file": str(self._cluster.setup.certificates.authority),
                                        "token_file": str(self._token_file(node))},
                         **self._gpus.node_settings(node), **self._node_settings, **node_settings},
                **self._settings}

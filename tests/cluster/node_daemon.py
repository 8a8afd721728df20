"""The node daemon on the nodes of a test cluster, with what manifests/ allow it."""

import json
import os
import signal
import time
from pathlib import Path

from benchmarks import logs
from benchmarks.processes import Failed
from tests.cluster.pods import SLOT

NAMESPACE = "crossover-system"
_ACCOUNT = "crossover-deviceplugin"
_MPS = "/run/crossover/mps"
_ENDS_WITHIN_S = 10.0
_SLOTS_PER_GPU = 2  # two jobs fill a GPU, unless a test says otherwise
_MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"


def apply_manifests(cluster):
    """Our kinds of objects, and what the daemon may do."""
    for folder in ("crds", "rbac"):
        cluster.kubectl("apply", "--filename", str(_MANIFESTS / folder))
    for kind in ("gpunodes", "jobprofiles"):
        cluster.kubectl("wait", "--for=condition=Established", f"crd/{kind}.crossover.dev")


def token_of(cluster, node):
    """Of a node's daemon: bound to the node, as those of a DaemonSet's pods are."""
    return cluster.kubectl("create", "token", _ACCOUNT, "--namespace", NAMESPACE, "--bound-object-kind", "Node",
                           "--bound-object-name", node.name).strip()


class MpsDaemon:
    """The control daemon of MPS for software GPUs, as a process of a node."""

    def __init__(self, cluster, node, build):
        self._cluster, self._node, self._program = cluster, node, build.program("nvidia-cuda-mps-control")
        self._name = f"mps-{node.name}"

    def start(self, strict=False):
        """`strict`: a client that is killed takes the others along."""
        for name in ("pipe", "shm"):
            self._node.reach(f"{_MPS}/{name}").mkdir(parents=True, exist_ok=True)
        self._node.reach(f"{_MPS}/shm").chmod(0o1777)
        self._cluster.processes.start(
            self._name, self._node.enter([str(self._program), "-f"]),
            env={"CUDA_MPS_PIPE_DIRECTORY": f"{_MPS}/pipe", **({"SIMGPU_MPS_STRICT": "1"} if strict else {})},
            log=self._cluster.setup.logs / f"{self._name}.log")

    def stop(self):
        self._cluster.processes.stop([self._name])

    def said(self):
        return (self._cluster.setup.logs / f"{self._name}.log").read_text(errors="replace")


class NodeDaemons:
    """One per node, as a process of the node."""

    def __init__(self, cluster, gpus, build, settings=(), node_settings=(), mps=True):
        """`settings`: of the configuration; `node_settings`: of its part for nodes; `mps`: start it on each node."""
        self._cluster, self._gpus, self._build = cluster, gpus, build
        self._mps = mps
        self._settings = dict(settings)
        self._node_settings = {"slots_per_gpu": _SLOTS_PER_GPU, **dict(node_settings)}
        self._directory = cluster.directory / "daemons"
        self._directory.mkdir()

    def start(self):
        """On all nodes; wait until each has its slots."""
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
        """Of a node."""
        of_gpu = self._node_settings["slots_per_gpu"] if self._mps else 1
        return of_gpu * self._gpus.machine.gpus_per_node

    def configure(self, node, settings=(), node_settings=()):
        """Write the configuration of a node's daemon, which looks at it every second; `settings`: over the others."""
        whole = self._config(node, dict(node_settings))
        draft = self._file(node).with_suffix(".draft")
        draft.write_text(json.dumps(whole | dict(settings)), encoding="utf-8")
        draft.rename(self._file(node))

    def start_on(self, number, **node_settings):
        """`node_settings`: over those of all nodes."""
        node = self._cluster.nodes[number]
        self._token_file(node).write_text(token_of(self._cluster, node), encoding="utf-8")
        self.configure(node, node_settings=node_settings)
        self._cluster.setup.start(
            self._name(node), node.enter([str(self._build.daemon), "--config", str(self._file(node))]),
            env=self._gpus.environment(number), product=True)

    def end_on(self, number, kill=False):
        """Ask it to end, or kill it; it has ended when this returns."""
        name = self._name(self._cluster.nodes[number])
        self._cluster.processes.signal(name, signal.SIGKILL if kill else signal.SIGTERM)
        end = time.monotonic() + _ENDS_WITHIN_S
        while self._cluster.processes.alive(name):
            if time.monotonic() > end:
                raise Failed(f"{name} still runs {_ENDS_WITHIN_S:.0f} s after it was asked to end")
            time.sleep(0.002)

    def freeze(self, number):
        """Let it stand still until `thaw`."""
        self._cluster.processes.signal(self._name(self._cluster.nodes[number]), signal.SIGSTOP)

    def thaw(self, number):
        """nsenter, of which it is a child, stands still with it, and would never see it end."""
        for pid in self.processes(number):
            os.kill(pid, signal.SIGCONT)

    def processes(self, number):
        """IDs of the daemon's process and of those that lead to it."""
        return self._cluster.processes.family(self._name(self._cluster.nodes[number]))

    def trace(self, node):
        """The daemon's events."""
        return logs.read_traces([self._trace_file(node)])

    def trace_tail(self, node):
        """Its events from here on."""
        tail = logs.TraceTail(self._trace_file(node))
        tail.news()
        return tail

    def said(self, node):
        return (self._cluster.setup.logs / f"daemon-{node.name}.log").read_text(errors="replace")

    def check(self):
        """Failed if one has ended that no test ended."""
        self._cluster.setup.check()

    def _file(self, node):
        return self._directory / f"{node.name}.json"  # which is YAML, too

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
                "node": {"name": node.name, "namespace": NAMESPACE, "cgroup_root": node.cgroup,
                         "metrics_readers": "everybody",
                         "library": str(self._build.library),
                         "mps_control": str(self._build.program("nvidia-cuda-mps-control")),
                         "api_server": {"server": self._cluster.server,
                                        "ca_file": str(self._cluster.setup.certificates.authority),
                                        "token_file": str(self._token_file(node))},
                         **self._gpus.node_settings(node), **self._node_settings, **node_settings},
                **self._settings}

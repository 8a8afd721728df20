"""The node daemon on the nodes of a test cluster, with a service account of its own and its least permissions."""

import json

from benchmarks import logs
from benchmarks.processes import Failed

NAMESPACE = "crossover-system"
_ACCOUNT = "crossover-deviceplugin"
SLOT = "crossover.dev/slot"


def permissions():
    """What the daemon may do: read the pods, of which it asks for those of its node."""
    subject = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": NAMESPACE}
    return [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": _ACCOUNT, "namespace": NAMESPACE}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": _ACCOUNT},
         "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": _ACCOUNT},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": _ACCOUNT},
         "subjects": [subject]}]


class NodeDaemons:
    """One per node, as a process of the node."""

    def __init__(self, cluster, gpus, build, settings=(), node_settings=()):
        """`settings`: of the configuration; `node_settings`: of its part for nodes."""
        self._cluster, self._gpus, self._build = cluster, gpus, build
        self._settings, self._node_settings = dict(settings), dict(node_settings)
        self._directory = cluster.directory / "daemons"
        self._directory.mkdir()

    def start(self):
        """On all nodes; wait until each has its slots."""
        cluster = self._cluster
        cluster.namespace(NAMESPACE, enforce="privileged")
        cluster.apply(permissions())
        token = cluster.kubectl("create", "token", _ACCOUNT, "--namespace", NAMESPACE)
        (self._directory / "token").write_text(token, encoding="utf-8")
        for number, node in enumerate(cluster.nodes):
            self._gpus.install(number, node)
            self.start_on(number)
        slots = str(2 * self._gpus.machine.gpus_per_node)
        for node in cluster.nodes:
            cluster.wait_for("node", node.name, lambda n: n["status"].get("allocatable", {}).get(SLOT) == slots)

    def start_on(self, number):
        node = self._cluster.nodes[number]
        config = self._directory / f"{node.name}.json"  # which is YAML, too
        config.write_text(json.dumps(self._config(node)), encoding="utf-8")
        self._cluster.processes.start(
            f"daemon-{node.name}", node.enter([str(self._build.daemon), "--config", str(config)]),
            env=self._gpus.environment(number), log=self._cluster.setup.logs / f"daemon-{node.name}.log")

    def trace(self, node):
        """The daemon's events."""
        return logs.read_traces([self._trace_file(node)])

    def said(self, node):
        return (self._cluster.setup.logs / f"daemon-{node.name}.log").read_text(errors="replace")

    def check(self):
        """Failed if one has ended."""
        for node in self._cluster.nodes:
            if not self._cluster.processes.alive(f"daemon-{node.name}"):
                raise Failed(f"the daemon of {node.name} ended: {self.said(node)[-500:]}")

    def _trace_file(self, node):
        return self._directory / f"{node.name}.trace.jsonl"

    def _config(self, node):
        return {"socket": {"path": "/run/crossover/arbiter/arbiter.sock"},
                "api": {"socket": "/run/crossover/api.sock"},
                "trace_file": str(self._trace_file(node)),
                "profiles": "off",
                "node": {"name": node.name, "library": str(self._build.library),
                         "api_server": {"server": self._cluster.server,
                                        "ca_file": str(self._cluster.setup.certificates.authority),
                                        "token_file": str(self._directory / "token")}, **self._node_settings},
                **self._settings}

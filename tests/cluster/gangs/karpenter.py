"""Runs the real Karpenter (tools/install/operators.sh) on a test cluster, with the account and the roles of its makers'
chart. Its provider creates nodes that KWOK plays. Its instance types (karpenter_types.json) know nvidia.com/gpu alone,
as those of clouds do; NodeOverlays add slots to them.
"""

import contextlib
import json
from pathlib import Path

import yaml

from testing.cluster import operators
from testing.cluster.fake_gpus import GPU_NODES, FakeGpus
from testing.cluster.gang_cluster import POOL
from testing.cluster.pods import SLOT
from testing.cluster.rig import Refused
from testing.cluster.rig.api import Watch

NODES = "/api/v1/nodes"
_POOL_OF_NODE = "karpenter.sh/nodepool"
_TYPE = "node.kubernetes.io/instance-type"
_TYPES = Path(__file__).with_name("karpenter_types.json")
_NAME, _NAMESPACE = "karpenter", "kube-system"
_METRICS, _HEALTH = 18290, 18291
_WHOLE = "nvidia.com/gpu"
_CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
_AFTER = "5s"  # a node without pods is kept for this long, as a gang needs a while to take it


def gpus_of(instance_type):
    """Returns how many GPUs machines of this type have."""
    types = {each["name"]: each for each in json.loads(_TYPES.read_text(encoding="utf-8"))}
    return int(types[instance_type]["resources"][_WHOLE])


def node_pool(name, instance_type):
    """Returns a NodePool of one instance type that consolidates as soon as it may."""
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
            "spec": {"template": {"metadata": {"labels": {POOL: name}},
                                  "spec": {"nodeClassRef": _CLASS, "expireAfter": "Never", "requirements": [
                                      {"key": _TYPE, "operator": "In", "values": [instance_type]}]}},
                     "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": _AFTER,
                                    "budgets": [{"nodes": "100%"}]}}}


def overlay(pool, slots):
    """Returns a NodeOverlay: Karpenter counts on so many slots of a new node of the pool."""
    return {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": pool},
            "spec": {"requirements": [{"key": _POOL_OF_NODE, "operator": "In", "values": [pool]}],
                     "capacity": {SLOT: str(slots)}}}


class Karpenter:
    """A Karpenter is installed once on a cluster, and runs until the cluster ends. Raises Refused where the program was
    not built."""

    def __init__(self, cluster):
        if operators.missing(_NAME):
            raise Refused(operators.missing(_NAME))
        self._cluster = cluster
        program = operators.program(_NAME)
        text = (program.parent / "manifests.yaml").read_text(encoding="utf-8")
        # Its Deployment is left out: the program runs beside the control plane, as it creates no pods.
        things = [thing for thing in yaml.load_all(text, yaml.CSafeLoader) if thing and thing["kind"] != "Deployment"]
        definitions = [thing for thing in things if thing["kind"] == "CustomResourceDefinition"]
        cluster.apply(definitions)
        for each in definitions:
            cluster.kubectl("wait", "--for=condition=Established", f"crd/{each['metadata']['name']}", "--timeout=60s")
        cluster.apply([thing for thing in things if thing not in definitions])
        cluster.apply({"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass",
                       "metadata": {"name": _CLASS["name"]}})
        kubeconfig = cluster.kubeconfig_of_account(_NAME, _NAMESPACE)
        cluster.start(_NAME, [str(program)], env={
            "KUBECONFIG": str(kubeconfig), "FEATURE_GATES": "NodeOverlay=true",
            "INSTANCE_TYPES_FILE_PATH": str(_TYPES), "LEADER_ELECTION_NAMESPACE": _NAMESPACE,
            "METRICS_PORT": str(_METRICS), "HEALTH_PROBE_PORT": str(_HEALTH), "LOG_LEVEL": "debug",
            "KUBERNETES_MIN_VERSION": "1.19.0-0"})
        cluster.wait_for_servers(f"http://127.0.0.1:{_HEALTH}/readyz")

    @property
    def version(self):
        return operators.version(_NAME)

    def add_pool(self, name, instance_type, slots):
        """Adds a NodePool, and a NodeOverlay that says how many slots its nodes will have. Blocks until Karpenter takes
        them."""
        self._cluster.apply([node_pool(name, instance_type), overlay(name, slots)])
        for thing in ("nodepool", "nodeoverlay"):
            self._cluster.kubectl("wait", "--for=condition=Ready", f"{thing}/{name}", "--timeout=60s")

    def decisions(self):
        """Returns how often Karpenter has begun to decide about pods that wait. It does so again and again."""
        return self.said().count("computing scheduling decision for provisionable pod(s)")

    def said(self):
        return (self._cluster.setup.logs / f"{_NAME}.log").read_text(errors="replace")


class Machines:
    """A Machines is a context that plays the node daemon on each node that Karpenter creates, while it lasts: the node
    gives out no nvidia.com/gpu but slots, and a GPUNode tells its GPUs. `new_api` makes a client."""

    def __init__(self, new_api, slots):
        self._new_api, self._slots = new_api, slots
        self._published = {}  # {node: the context that publishes its GPUNode}

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self._api = stack.enter_context(contextlib.closing(self._new_api()))
            stack.callback(self._end)
            watching = stack.enter_context(contextlib.closing(self._new_api()))
            stack.enter_context(Watch(watching, NODES, self._on_node, patient=True))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def _on_node(self, _when, kind, node):
        name = node.get("metadata", {}).get("name")
        if kind == "DELETED" and name in self._published:
            self._published.pop(name).close()
            self._api.delete(f"{GPU_NODES}/{name}")
        elif kind in ("ADDED", "MODIFIED") and name not in self._published:
            labels = node["metadata"].get("labels", {})
            if _POOL_OF_NODE in labels and "deletionTimestamp" not in node["metadata"]:
                self._boot(name, gpus_of(labels[_TYPE]))

    def _boot(self, name, gpus):
        there = {_WHOLE: None, SLOT: str(gpus * self._slots)}
        self._api.merge(f"{NODES}/{name}/status", {"status": {"capacity": there, "allocatable": there}})
        with contextlib.ExitStack() as stack:
            api = stack.enter_context(contextlib.closing(self._new_api()))
            stack.enter_context(FakeGpus(api, [name], gpus, self._slots))
            self._published[name] = stack.pop_all()

    def _end(self):
        for stack in self._published.values():
            stack.close()

"""A real Kubernetes with the node daemon on its nodes (tests/cluster), for figures that need one."""

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Failed
from tests.cluster.node_daemon import NodeDaemons
from tests.cluster.pods import SLOT, with_slots
from tests.cluster.rig import Cluster, Refused, cgroups, phase
from tests.cluster.rig.programs import Programs
from tests.cluster.software_gpus import SoftwareGpus

_TOP = Path(__file__).resolve().parent.parent
NAMESPACE = "team"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
NODES = "/api/v1/nodes"
ARBITER_SOCKET = "/run/crossover/arbiter/arbiter.sock"  # on a node


def versions(case):
    """For a cluster of a case that names one: "kube_1.31" is {"kube_version": "1.31"}."""
    name, version = case.split("_")
    return {f"{name}_version": version}


def left_out(case):
    """Why such a case is not measured unless it is asked for by name; empty: it is."""
    try:
        Programs(**versions(case))
    except Refused as refusal:
        return str(refusal)
    return ""


@dataclass
class Running:
    """What a figure works with."""

    cluster: object
    gpus: SoftwareGpus
    daemons: NodeDaemons
    api: object  # of one thread


@contextlib.contextmanager
def running(build, machine, settings=(), node_settings=(), kubelet=None, service_routing=False,
            kube_version=None, containerd_version=None):
    """A cluster with as many nodes as `machine`, all slots there. `kubelet`: settings of KubeletConfiguration;
    versions: see `Cluster`."""
    try:
        with Cluster(nodes=machine.nodes, kubelet=kubelet, service_routing=service_routing,
                     kube_version=kube_version, containerd_version=containerd_version) as cluster:
            gpus = SoftwareGpus(cluster, machine, build.gpu_libraries)
            daemons = NodeDaemons(cluster, gpus, build, settings, node_settings)
            daemons.start()
            cluster.namespace(NAMESPACE)
            yield Running(cluster, gpus, daemons, cluster.api())
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal


def groups_of(node, uid):
    """The control groups of a container of a pod, one in each hierarchy."""
    return [next(container for container in group.iterdir() if container.is_dir())
            for top in cgroups.find(node.cgroup) for group in top.rglob(f"pod{uid}")]


def in_groups(node, groups, command):
    """`command`, run on a node in these control groups: those of a pod, say, as if it were a process of that pod."""
    join = "".join(f"echo 0 > {group}/cgroup.procs && " for group in groups)
    return node.enter(["sh", "-c", f'{join}exec "$@"', "sh", *command])


def start_client(running, node, groups, name, command):
    """A Python program of ours as a process of a pod."""
    log = running.cluster.setup.logs / f"{name}.log"
    log.unlink(missing_ok=True)
    running.cluster.processes.start(name, in_groups(node, groups, command), env={"PYTHONPATH": str(_TOP)}, log=log)


def await_words(running, name, words, patience_s=20.0):
    """The line that begins so, of what such a client says."""
    log, end = running.cluster.setup.logs / f"{name}.log", time.monotonic() + patience_s
    while True:
        said = log.read_text(errors="replace").splitlines() if log.exists() else []
        for line in said:
            if line.startswith(words):
                return line
        if not running.cluster.processes.alive(name) or time.monotonic() > end:
            raise Failed(f"{name} does not say '{words}'; its last words: {' | '.join(said[-3:])}")
        time.sleep(0.01)


def new_pod(running, node, name, image, slots=1, gpus=(), gang=""):
    """A pod that sleeps with slots, of certain GPUs where that is wished, and runs: its UID and its control groups."""
    pod = with_slots(name, image, ["/bin/sleep", "10000"], node.name, slots)
    pod["metadata"]["annotations"] = {
        **({"crossover.dev/gang": gang} if gang else {}),
        **({"crossover.dev/assignment": json.dumps({"containers": {"main": list(gpus)}})} if gpus else {})}
    uid = running.api.create(PODS, pod)["metadata"]["uid"]
    running.cluster.wait_for("pod", name, phase("Running"), NAMESPACE)
    return uid, groups_of(node, uid)


def allocatable(node):
    """How many slots a node (an object of the API) says that pods can have."""
    return int(node["status"].get("allocatable", {}).get(SLOT, 0))

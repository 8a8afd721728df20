"""Runs a real Kubernetes with the node daemon on its nodes (tests/cluster), for figures that need one."""

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path

from testing.cluster.node_daemon import NodeDaemons
from testing.cluster.pods import SLOT, with_slots
from testing.cluster.rig import Cluster, Refused, cgroups, phase
from testing.cluster.rig.programs import Programs
from testing.cluster.software_gpus import SoftwareGpus
from testing.processes import Failed

_TOP = Path(__file__).resolve().parents[2]
NAMESPACE = "team"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
NODES = "/api/v1/nodes"
ARBITER_SOCKET = "/run/crossover/arbiter/arbiter.sock"  # on a node


def versions(case):
    """Returns the arguments of `Cluster` for a case with a version: "kube_1.31" gives {"kube_version": "1.31"}."""
    name, version = case.split("_")
    return {f"{name}_version": version}


def left_out(case):
    """Returns why such a case is measured only if it is asked for by name; "" if it is always measured."""
    try:
        Programs(**versions(case))
    except Refused as refusal:
        return str(refusal)
    return ""


@dataclass
class Running:
    """A running cluster with daemons, as the figures use it."""

    cluster: object
    gpus: SoftwareGpus
    daemons: NodeDaemons
    api: object  # for one thread


@contextlib.contextmanager
def running(build, machine, settings=(), node_settings=(), kubelet=None, service_routing=False,
            kube_version=None, containerd_version=None):
    """Yields a cluster with as many nodes as `machine`, after all slots are there. `kubelet` has settings of
    KubeletConfiguration; for the versions see `Cluster`."""
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
    """Returns the control groups of the container of a pod, one in each hierarchy."""
    return [next(container for container in group.iterdir() if container.is_dir())
            for top in cgroups.find(node.cgroup) for group in top.rglob(f"pod{uid}")]


def in_groups(node, groups, command):
    """Returns `command`, changed to run on a node in these control groups, such as those of a pod, like a process of
    that pod."""
    join = "".join(f"echo 0 > {group}/cgroup.procs && " for group in groups)
    return node.enter(["sh", "-c", f'{join}exec "$@"', "sh", *command])


def start_client(running, node, groups, name, command):
    """Starts a Python program of ours as a process of a pod."""
    log = running.cluster.setup.logs / f"{name}.log"
    log.unlink(missing_ok=True)
    running.cluster.processes.start(name, in_groups(node, groups, command), env={"PYTHONPATH": str(_TOP)}, log=log)


def await_words(running, name, words, patience_s=20.0):
    """Waits for a line of the client's output that begins with `words`, and returns it."""
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
    """Creates a pod that sleeps and has slots, on certain GPUs if `gpus` names some. Once it runs, returns its UID
    and control groups."""
    pod = with_slots(name, image, ["/bin/sleep", "10000"], node.name, slots)
    pod["metadata"]["annotations"] = {
        **({"crossover.dev/gang": gang} if gang else {}),
        **({"crossover.dev/assignment": json.dumps({"containers": {"main": list(gpus)}})} if gpus else {})}
    uid = running.api.create(PODS, pod)["metadata"]["uid"]
    running.cluster.wait_for("pod", name, phase("Running"), NAMESPACE)
    return uid, groups_of(node, uid)


def allocatable(node):
    """Returns how many slots a node (an object of the API) has for pods."""
    return int(node["status"].get("allocatable", {}).get(SLOT, 0))

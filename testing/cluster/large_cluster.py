"""A cluster of thousands of nodes and GPUs on a real API server, for figures of the extender. KWOK simulates the
nodes. The GPUNodes are as their daemons would publish them, and some pods have slots already."""

import contextlib
import http.client
import json
import queue
import ssl
import threading
import time
import urllib.parse
from dataclasses import dataclass

from testing.cluster import fake_gpus, gangs
from testing.cluster.control import Control
from testing.cluster.gpu_judge import ASSIGNMENT
from testing.cluster.pods import SLOT
from testing.cluster.prometheus import reading_token
from testing.cluster.rig import Cluster, Refused, kwok
from testing.cluster.rig.api import connected_in
from testing.processes import Failed

SPACE, HELD_SPACE = "team", "held"
PODS = "/api/v1/namespaces/{}/pods"
SLOTS_PER_GPU = 2
_WRITERS = 4
_READY_WITHIN_S, _LOOK_EVERY_S = 300.0, 3.0


@dataclass
class Large:
    """A large cluster, as the figures use it. `filled` GPUs of each node have a pod with a slot."""

    cluster: object
    control: Control
    nodes: list
    gpus: int
    api: object  # for one thread
    _token: str = ""

    def get(self, url):
        """Returns a page of a server next to the control plane, and accepts any certificate."""
        parts = urllib.parse.urlsplit(url)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        plain = connected_in(self.cluster.network_pid, (parts.hostname, parts.port))
        connection = http.client.HTTPSConnection(parts.hostname, parts.port)
        with contextlib.closing(connection):
            connection.sock = context.wrap_socket(plain, server_hostname=parts.hostname)
            connection.request("GET", parts.path)
            answer = connection.getresponse()
            said = answer.read().decode()
        if answer.status != 200:
            raise Failed(f"GET {url}: status {answer.status}: {said[:300]}")
        return said

    def token_for_metrics(self):
        """Returns the token of an account that may read the metrics."""
        if not self._token:
            self._token = reading_token(self.cluster)
        return self._token

    def start_extender(self):
        """Starts the extender and waits until it knows the cluster."""
        self.control.start_extender(0)
        ready = f"http://127.0.0.1:{self.control.replicas[0].health}/readyz"
        try:
            self.cluster.wait_for_servers(ready, deadline_s=_READY_WITHIN_S)
        except Failed:
            self.control.check()  # if the extender has ended, this says more
            raise

    def stop_extender(self):
        self.cluster.processes.stop([self.control.replicas[0].extender])

    def extender_memory_mib(self):
        """Returns (resident memory now, its maximum)."""
        return memory_mib(self.extender_pid())

    def extender_pid(self):
        return self.cluster.processes.inner(self.control.replicas[0].extender)


@contextlib.contextmanager
def standing(context, nodes, gpus, filled, settings=None, pods_run=False):
    """Yields a cluster of `nodes` nodes with `gpus` GPUs, of which `filled` have a pod each; the extender knows them
    all. No scheduler runs beside it: `settings` say who leads. With `pods_run`, pods run once they are bound."""
    try:
        with Cluster(nodes=1, api_server=(*kwok.API_SERVER, *_UNHINDERED),
                     controllers=(*kwok.READY_FOR_EVER, *SWIFT)) as cluster:
            control = Control(cluster, context.build, webhook=False, settings=settings)
            control.prepare()
            for space in (SPACE, HELD_SPACE):
                cluster.namespace(space)
            names = node_names(nodes)
            if pods_run:
                kwok.start(cluster, heartbeats=False)
            slots = {SLOT: str(gpus * SLOTS_PER_GPU)}
            _at_once(cluster, names, lambda api, name: kwok.create_nodes(api, [name], slots, ready=True))
            _await_no_taints(cluster)
            context.say(f"    {nodes} nodes")
            held = {name: _holding(name, gpus, filled) for name in names}
            with fake_gpus.FakeGpus(cluster.api(), names, gpus, SLOTS_PER_GPU):
                _at_once(cluster, [pod for pods in held.values() for pod in pods],
                         lambda api, pod: api.create(PODS.format(HELD_SPACE), pod))
                context.say(f"    {nodes * filled} pods")
                large = Large(cluster, control, names, gpus, cluster.api())
                large.start_extender()
                yield large
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal


def _await_no_taints(cluster):
    """Waits until no new node has a taint. Nodes must not be used before a controller has seen that they are ready."""
    end = time.monotonic() + _READY_WITHIN_S
    while any(node["spec"].get("taints") for node in cluster.get("nodes")):
        if time.monotonic() > end:
            raise Failed(f"not all nodes are without taints within {_READY_WITHIN_S:.0f} s")
        time.sleep(_LOOK_EVERY_S)


def node_names(count):
    return [f"fake-{number:05}" for number in range(count)]


# Controllers without rate limits. With their default limits the taints of thousands of new nodes stay for minutes,
# and the Job controller creates three gangs a second.
SWIFT = ("--kube-api-qps", "1000", "--kube-api-burst", "1000")
# An API server that accepts writes as fast as a benchmark makes them.
_UNHINDERED = ("--max-requests-inflight", "4000", "--max-mutating-requests-inflight", "2000")


def pod(name, gpus=(), node=""):
    """Returns a gang of one pod with one slot for each GPU. With `node`, the pod is as after it was bound there."""
    template = gangs.indexed_job(name, 1, max(1, len(gpus)), annotations={"crossover.dev/gpu-memory": "30Gi"})
    metadata, spec = (template["spec"]["template"][part] for part in ("metadata", "spec"))
    if node:
        spec.pop("schedulingGates")
        spec["nodeName"] = node
        metadata["annotations"] |= {"crossover.dev/gang": name, "crossover.dev/gang-size": "1",
                                    ASSIGNMENT: json.dumps({"containers": {"main": list(gpus)}})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


def create_pods(large, pods):
    _at_once(large.cluster, pods, lambda api, each: api.create(PODS.format(SPACE), each))


def nominate_pods(large, nodes):
    """Nominates a node for each pod and lifts the gate behind which the pod waits. `nodes` is by pod name."""
    def nominate(api, name):
        path = f"{PODS.format(SPACE)}/{name}"
        api.merge(f"{path}/status", {"status": {"nominatedNodeName": nodes[name]}})
        api.merge(path, {"spec": {"schedulingGates": None}})
    _at_once(large.cluster, nodes, nominate)


def memory_mib(pid):
    """Returns (resident memory now, its maximum)."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return tuple(int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))


def _holding(node, gpus, filled):
    return [pod(f"{node}-{gpu}", [fake_gpus.uuid(node, gpu)], node) for gpu in range(min(gpus, filled))]


def _at_once(cluster, things, write):
    """Calls `write(api, thing)` for each thing, on several threads."""
    waiting, failures = queue.SimpleQueue(), []
    for thing in things:
        waiting.put(thing)

    def work(api):
        while not failures:
            try:
                write(api, waiting.get_nowait())
            except queue.Empty:
                return
            except Failed as failure:
                failures.append(failure)

    writers = [threading.Thread(target=work, args=(cluster.api(),)) for _ in range(_WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    if failures:
        raise failures[0]

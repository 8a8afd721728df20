"""Disturbs a gang between its plan and its binding, and while it runs. Each play has nodes of its own. It returns a
list of what was wrong, in words. The list is empty if the gang ran, or waited with the true reason, and nothing of it
was left.

Plan and binding follow each other at once. To act between them, a play stops the scheduler that would bind the pods.
"""

import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import time

from testing.cluster.control import NAMESPACE, SCHEDULER
from testing.cluster.gang_cluster import FAKE, PODS, POOL, SPACE
from testing.cluster.gang_lives import RESERVATION
from testing.cluster.gang_plays import Arrivals, fills
from testing.cluster.pods import restricted
from testing.cluster.rig import phase
from testing.processes import Failed

LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{SCHEDULER}"
_ZONE = "topology.kubernetes.io/zone"
# hold_off_s is short, so that a gang whose plan ran out of time is soon planned again.
SETTINGS = {"gangs": {"deadline_s": 20, "hold_off_s": 1}}
_CPUS = 64  # of a node
_numbers = itertools.count(1)


class Stage:
    """A Stage is a context with the nodes of a play, one in each of two zones, and its gang. `gpus` has the number of
    GPUs of each node.
    """

    def __init__(self, world, gpus=(4, 4), size=4, patience_s=60.0):
        self.world, self.size, self.patience_s = world, size, patience_s
        self.pool = f"stage-{next(_numbers)}"
        self.gang = f"gang-{self.pool}"
        self.nodes = [f"{self.pool}-{zone}" for zone in "ab"]
        self._gpus = gpus
        self.wrong = []

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            for node, zone, gpus in zip(self.nodes, "ab", self._gpus):
                self.world.add_nodes(stack, [node], gpus, self.pool, **{_ZONE: zone})
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def create(self, **more):
        self.world.create(self.gang, self.size, nodeSelector={POOL: self.pool}, **more)

    def await_plan(self):
        """Blocks until all pods of the gang have a reservation and no gate. Returns the nodes of the plan."""
        def planned():
            pods = self.world.lives.pods(self.gang)
            return len(pods) == self.size and all(
                RESERVATION in pod["metadata"]["annotations"] and not pod["spec"].get("schedulingGates")
                for pod in pods)
        self.world.until(planned, f"{self.gang} has a plan", 20.0)
        return sorted({node_of(pod) for pod in self.world.lives.pods(self.gang)})

    def must_run(self, nodes=None):
        """Records a fault unless all pods are bound, each with its own GPU. If `nodes` are given, only these may be
        used."""
        if not self._happens(lambda: self.world.lives.whole(self.gang), "all its pods are bound"):
            return
        pods = self.world.lives.pods(self.gang)
        on = {pod["spec"]["nodeName"] for pod in pods}
        if nodes and not on <= set(nodes):
            self.wrong.append(f"{self.gang} is on {sorted(on)}, not on {nodes}")
        gpus = {gpu for pod in pods for gpu in self.world.lives.life(self.gang).bound[pod["metadata"]["name"]][1]}
        if len(gpus) != self.size:
            self.wrong.append(f"{self.gang} has {len(gpus)} GPUs")

    def must_wait(self, *words):
        """Records a fault unless an event of one of its pods has all these words, and no pod is bound or keeps a
        reservation."""
        def told():
            return any(all(word in reason for word in words) for reason in self.world.lives.reasons(self.gang))
        self._happens(told, f"it is told {words}")
        self._happens(lambda: not self._planned(), "its reservations are gone")
        if any(pod["spec"].get("nodeName") for pod in self.world.lives.pods(self.gang)):
            self.wrong.append(f"{self.gang} is bound in part")

    def finish(self, free=None):
        """Removes the gang and checks that another gang can have all of its GPUs, or `free` of them. Returns what was
        wrong."""
        self.world.remove(self.gang)
        try:
            fills(self.world, sum(self._gpus) if free is None else free, nodeSelector={POOL: self.pool})
        except Failed as failure:
            self.wrong.append(str(failure))
        for gpu in self.world.judge.found:
            if self.pool in gpu:
                self.wrong.append(f"{gpu} was given twice")
        return self.wrong

    def _happens(self, condition, what):
        """Returns whether the condition comes to hold. If it does not, that is recorded as a fault."""
        try:
            self.world.until(condition, what, self.patience_s)
            return True
        except Failed as failure:
            self.wrong.append(f"{self.gang}: {what}: {self.world.lives.reasons(self.gang)}; {failure}")
            return False

    def _planned(self):
        return {name for name in self.world.lives.reserved() if name.startswith(f"{self.gang}-")}


def node_of(pod):
    """Returns the node of the pod's reservation."""
    text = pod["metadata"]["annotations"][RESERVATION]
    return json.loads(text)["node"]


@contextlib.contextmanager
def held_scheduler(world):
    """Stops the scheduler that leads while the context lasts. That must be shorter than its Lease."""
    name = world.control.leader().scheduler
    world.cluster.processes.signal(name, signal.SIGSTOP)
    try:
        yield name
    finally:
        # nsenter, the scheduler's parent, stops along with it.
        for pid in world.cluster.processes.family(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def cpu_full(world):
    """Other pods take the CPUs of the reserved node."""
    with Stage(world) as stage:
        with held_scheduler(world):
            stage.create(requests={"cpu": "1"})
            node, = stage.await_plan()
            _take_cpus(world, node)
        stage.must_run(set(stage.nodes) - {node})
        return stage.finish(free=stage.size)


def cpu_full_everywhere(world):
    """Other pods take the CPUs of all nodes."""
    with Stage(world) as stage:
        with held_scheduler(world):
            stage.create(requests={"cpu": "1"})
            stage.await_plan()
            for node in stage.nodes:
                _take_cpus(world, node)
        stage.must_wait("the scheduler", "Insufficient cpu")
        return stage.finish()


def tainted(world):
    return _closed(world, {"taints": [{"key": "crossover.test/closed", "effect": "NoSchedule"}]})


def cordoned(world):
    return _closed(world, {"unschedulable": True})


def _closed(world, spec):
    with Stage(world) as stage:
        with held_scheduler(world):
            stage.create()
            node, = stage.await_plan()
            world.api.apply(f"/api/v1/nodes/{node}", {"apiVersion": "v1", "kind": "Node", "spec": spec})
        stage.must_run(set(stage.nodes) - {node})
        return stage.finish(free=stage.size)


def volume_elsewhere(world):
    """The gang's volume is in the zone that would not be chosen: its node has more GPUs than are needed."""
    with Stage(world, gpus=(4, 8)) as stage:
        claim = _volume_in_zone(world, stage.pool, "b")
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
        stage.create(volumes=volumes)
        stage.must_run([stage.nodes[1]])
        return stage.finish()


def volume_out_of_reach(world):
    """The gang's volume is in a zone in which no node has enough GPUs."""
    with Stage(world, gpus=(4, 2)) as stage:
        claim = _volume_in_zone(world, stage.pool, "b")
        stage.create(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": claim}}])
        stage.must_wait("the scheduler refused the node")
        return stage.finish()


def recreated(world):
    """A pod of the gang is deleted and comes again, between plan and binding and later while the gang runs."""
    with Stage(world) as stage:
        with held_scheduler(world):
            stage.create()
            stage.await_plan()
            _delete_one(stage)
        stage.must_run()
        world.until(lambda: len(world.judge.held(stage.gang)) == stage.size, "its node says so")
        before = set(stage.world.judge.held(stage.gang))
        _delete_one(stage)
        stage.must_run()
        world.until(lambda: len(world.judge.held(stage.gang)) == stage.size, "its node says so")
        if set(world.judge.held(stage.gang)) != before:
            stage.wrong.append(f"{stage.gang} was on {before}, and is on {world.judge.held(stage.gang)}")
        return stage.finish()


def scheduler_killed(world):
    """The scheduler is killed while all pods of a gang wait for it. Another one takes over when its Lease has ended."""
    with Stage(world) as stage:
        with held_scheduler(world) as name:
            stage.create()
            stage.await_plan()
            world.cluster.processes.signal(name, signal.SIGKILL)
        with world.control.reviving():
            stage.must_run()
        return stage.finish()


def api_server_away(world, for_s):
    """The API server is away between plan and binding."""
    with Stage(world) as stage, world.control.reviving():
        with held_scheduler(world):
            stage.create()
            stage.await_plan()
            world.cluster.kill_api_server()
        _pass_time(world, for_s)
        world.cluster.start_api_server()
        stage.must_run()
        return stage.finish()


def connections_lost(world):
    """Packets between the leading extender and the API server are lost, and no connection is closed: so it is when a
    machine dies. New connections work."""
    with Stage(world, patience_s=100.0) as stage:
        with _lost(world, world.control.leader().extender):
            stage.create()
            stage.must_run()
        return stage.finish()


def lease_moved(world):
    """Between plan and binding the Lease is given to another replica, whose scheduler knows nothing of it."""
    with Stage(world) as stage, world.control.reviving():
        leads = world.control.leader()
        other = next(replica for replica in world.control.replicas if replica is not leads)
        with held_scheduler(world):
            stage.create()
            stage.await_plan()
            now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
            world.api.apply(LEASE, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                    "spec": {"holderIdentity": f"{other.host}_forced", "renewTime": now}})
        stage.must_run()
        return stage.finish()


def rolling_updates(world, times):
    """Replicas are stopped and replaced one after the other, while gangs come and go."""
    with Stage(world) as stage:
        arrivals = Arrivals(world, None, seed=9, prefix=f"{stage.pool}-load", most=12, nodeSelector={POOL: FAKE})
        with world.meanwhile(arrivals.step):
            for _ in range(times):
                for number in range(len(world.control.replicas)):
                    world.control.stop_pair(number)
                    world.control.start_pair(number)
                    world.control.await_ready()
            arrivals.stop()
            stage.create()
            stage.must_run()
            world.until(lambda: not arrivals.unfinished, "all gangs have run", 240.0)
        return stage.finish()


def no_decision(world):
    """The control stops all replicas, so the gang can neither run nor be told why it waits."""
    with Stage(world, patience_s=20.0) as stage:
        for number in range(len(world.control.replicas)):
            world.control.stop_pair(number)
        stage.create()
        stage.must_run()
        stage.must_wait("GPU")
        return stage.wrong


@contextlib.contextmanager
def _lost(world, process):
    """Drops all packets of the connections that a process has to the API server now."""
    pids = {str(pid) for pid in world.cluster.processes.family(process)}

    def run(*words):
        return subprocess.run(world.cluster.enter(words, ("net",)), check=True, capture_output=True, text=True).stdout
    connections = run("ss", "--no-header", "--tcp", "--numeric", "--processes", "state", "established", "dport", "=",
                      ":" + world.cluster.server.rsplit(":", 1)[1]).splitlines()
    ports = [line.split()[2].rsplit(":", 1)[1] for line in connections if pids & set(re.findall(r"pid=(\d+)", line))]
    if not ports:
        raise Failed(f"{process} has no connection to the API server: {connections}")
    rules = [("OUTPUT", "--protocol", "tcp", way, port, "--jump", "DROP")
             for port in ports for way in ("--sport", "--dport")]
    for rule in rules:
        run("iptables", "--wait", "--append", *rule)
    try:
        yield
    finally:
        for rule in rules:
            run("iptables", "--wait", "--delete", *rule)


def _pass_time(world, seconds):
    end = time.monotonic() + seconds
    world.until(lambda: time.monotonic() > end, "time passes", seconds + 10.0)


def _take_cpus(world, node):
    pod = restricted(f"greedy-{node}", "crossover.test/nothing:1", ["/nothing"], nodeName=node)
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": str(_CPUS)}}
    world.api.create(PODS, pod)
    world.cluster.wait_for("pod", pod["metadata"]["name"], phase("Running"), SPACE)


def _delete_one(stage):
    """Deletes a pod of the gang and blocks until another one has replaced it."""
    world, pod = stage.world, stage.world.lives.pods(stage.gang)[0]
    world.api.delete(f"{PODS}/{pod['metadata']['name']}")

    def replaced():
        pods = world.lives.pods(stage.gang)
        return len(pods) == stage.size and pod["metadata"]["uid"] not in {each["metadata"]["uid"] for each in pods}
    world.until(replaced, f"{pod['metadata']['name']} is replaced")


def _volume_in_zone(world, name, zone):
    """Creates a claim bound to a volume in that zone, as the volume controller leaves it. Returns the claim's name."""
    common = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    claim = world.api.create(f"/api/v1/namespaces/{SPACE}/persistentvolumeclaims", {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {**common, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}}})
    there = {"key": _ZONE, "operator": "In", "values": [zone]}
    world.api.create("/api/v1/persistentvolumes", {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {**common, "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/nowhere"},
                 "claimRef": {"namespace": SPACE, "name": name, "uid": claim["metadata"]["uid"]},
                 "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [there]}]}}}})
    return name

"""Provides a cluster to place gangs on. KWOK plays most nodes, with made-up GPUs; if a test needs them, real nodes
with the node daemon are beside them. The extender and its scheduler run, and all pods and GPUNodes are watched.
"""

import contextlib
import json
import time

from testing.cluster.control import Control
from testing.cluster.fake_gpus import GPU_NODES, FakeGpus
from testing.cluster.gang_lives import GangLives
from testing.cluster.gangs import IMAGE, JOBS, indexed_job
from testing.cluster.gpu_judge import GpuJudge
from testing.cluster.node_daemon import NodeDaemons
from testing.cluster.pods import with_slots
from testing.cluster.rig import Cluster, kwok
from testing.cluster.rig.api import Watch
from testing.cluster.software_gpus import SoftwareGpus
from testing.processes import Failed

SPACE = "team"
PODS = f"/api/v1/namespaces/{SPACE}/pods"
POOL = "crossover.test/pool"  # a label of nodes, which gangs may select
REAL, FAKE = "real", "fake"
_SLOTS = 2
_LOOK_EVERY_S = 0.05


class GangCluster:
    """A GangCluster is a context in which the cluster runs.

    KWOK plays `fake` nodes, each of `gpus` GPUs. `machine` (testing.machine) describes the real nodes. `build` is a
    Build; `control` has arguments of Control and `versions` those of Cluster."""

    def __init__(self, build, fake, gpus, machine=None, control=None, **versions):
        self._build, self._machine, self._versions = build, machine, versions
        self._control_arguments = {"webhook": False, **(control or {})}
        self.nodes = [f"fake-{number}" for number in range(fake)]
        self.gpus_of_node = gpus
        self.lives, self.judge = GangLives(), GpuJudge(_SLOTS)
        self._meanwhile = []

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            real = self._machine.nodes if self._machine else 1
            self.cluster = stack.enter_context(Cluster(nodes=real, api_server=kwok.API_SERVER, **self._versions))
            self.api = self._api_of(stack)
            self.control = Control(self.cluster, self._build, **self._control_arguments)
            self.control.prepare()
            if self._machine:
                self._start_real_nodes()
            kwok.start(self.cluster)
            self.add_nodes(stack, self.nodes, self.gpus_of_node, FAKE)
            self.control.start()
            self.cluster.namespace(SPACE)
            self._follow(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def add_nodes(self, stack, names, gpus, pool, **labels):
        """Adds more nodes that KWOK plays."""
        kwok.create_nodes(self.api, names, {"crossover.dev/slot": str(gpus * _SLOTS)}, {POOL: pool, **labels})
        stack.enter_context(FakeGpus(self._api_of(stack), names, gpus, _SLOTS))

    def lose_node(self, name):
        """Deletes a node that KWOK plays, as a cloud's controller deletes that of a machine that is gone."""
        self.api.delete(f"/api/v1/nodes/{name}")

    def bring_back(self, name):
        """Creates a node of the usual ones again."""
        kwok.create_nodes(self.api, [name], {"crossover.dev/slot": str(self.gpus_of_node * _SLOTS)}, {POOL: FAKE})

    def create(self, name, size, **more):
        """Creates a gang. `more` is passed to indexed_job."""
        self.lives.expect(name, size)
        self.api.create(JOBS.format(SPACE), indexed_job(name, size, **more))

    def end(self, *names):
        """Deletes gangs without waiting for their pods to go."""
        for name in names:
            self.api.delete(f"{JOBS.format(SPACE)}/{name}")

    def remove(self, *names):
        """Deletes gangs and blocks until their pods are gone, so that other gangs can have the GPUs."""
        self.end(*names)
        self.until(lambda: not self.lives.pods(*names), "their pods are gone")

    def until(self, condition, what, patience_s=120.0):
        """Blocks until `condition` holds. Raises Failed, which says what pods wait for, if it does not hold in time or
        a part of Crossover has ended."""
        end = time.monotonic() + patience_s
        while not condition():
            for step in self._meanwhile:
                step()
            self.control.check()
            if self.lives.broken:
                raise Failed(self.lives.broken)
            if time.monotonic() > end:
                raise Failed(f"{what}: not within {patience_s:.0f} s; {self.state()}")
            time.sleep(_LOOK_EVERY_S)

    @contextlib.contextmanager
    def meanwhile(self, step):
        """Calls `step` again and again whenever the test waits, while the context lasts."""
        self._meanwhile.append(step)
        try:
            yield
        finally:
            self._meanwhile.remove(step)

    def until_whole(self, *names, patience_s=120.0):
        self.until(lambda: all(map(self.lives.whole, names)), f"{', '.join(names)}: all pods bound", patience_s)

    def state(self):
        """Describes the pods that wait and the extenders' logs, for the message of a failure."""
        waiting = {pod["metadata"]["name"]: pod["status"].get("conditions") for pod in self.lives.pods()
                   if not pod["spec"].get("nodeName")}
        said = {replica.extender: self.control.said(replica.extender)[-1500:] for replica in self.control.replicas}
        return f"{len(waiting)} wait: {json.dumps(waiting)[:2000]}; said: {said}"

    @contextlib.contextmanager
    def unadmitted(self):
        """Keeps pods of the namespace from the webhook while the context lasts, so that a test can create what it would
        refuse."""
        self.cluster.kubectl("label", "namespace", SPACE, "crossover.dev/webhook=ignore")
        self.until(self._takes_slots, "the namespace is left alone")
        try:
            yield
        finally:
            self.cluster.kubectl("label", "namespace", SPACE, "crossover.dev/webhook-")
            self.until(lambda: not self._takes_slots(), "the webhook is asked again")

    def _takes_slots(self):
        pod = json.dumps(with_slots("slots-alone", IMAGE, ["/bin/sleep", "1"]))
        return self.cluster.kubectl("create", "--namespace", SPACE, "--dry-run=server", "--filename", "-", input=pod,
                                    check=False).returncode == 0

    def _start_real_nodes(self):
        gpus = SoftwareGpus(self.cluster, self._machine, self._build.gpu_libraries)
        self.daemons = NodeDaemons(self.cluster, gpus, self._build)
        self.daemons.start()
        self.cluster.image_of(IMAGE, {"/bin/sleep": "/bin/sleep"})
        for node in self.cluster.nodes:
            self.cluster.kubectl("label", "node", node.name, f"{POOL}={REAL}")

    def _api_of(self, stack):
        """Returns a new Api. A thread needs one of its own."""
        return stack.enter_context(contextlib.closing(self.cluster.api()))

    def _follow(self, stack):
        for path, on_event in (("/api/v1/pods", self.judge.on_pod), (GPU_NODES, self.judge.on_gpu_node),
                               (PODS, self.lives.on_pod), (f"/api/v1/namespaces/{SPACE}/events", self.lives.on_event)):
            stack.enter_context(Watch(self._api_of(stack), path, on_event, patient=True))

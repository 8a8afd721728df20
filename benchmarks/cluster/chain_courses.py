"""The ways by which pods of a real Kubernetes come to take turns, for the figures of the whole chain
(benchmarks.cluster.pod_pairs). Each course is a context manager with a cluster of its own. It has the cluster's GPUs,
places the jobs, and reads what Crossover itself reports of their gain. """

import contextlib
import json
import subprocess
import threading
import time

from benchmarks.cluster import cluster
from benchmarks.cluster.pod_pairs import SHAPE
from testing import logs, stats
from testing.cluster.control import Control
from testing.cluster.pods import SLOT
from testing.cluster.prometheus import Prometheus
from testing.cluster.release import Release
from testing.cluster.rig import Cluster, Refused
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import wait_until_learnt
from testing.processes import Failed
from testing.shipped import slots_per_gpu

_API = "/run/crossover/api.sock"
_KEY = "digits"
_BY_ANNOTATIONS = "placed by annotations (share, and a profile key that a run before has taught)"
_LOOK_EVERY_S, _PATIENCE_S = 0.5, 20.0


class _Daemons:
    """Node daemons that the benchmark starts on each node."""

    WHO_SAYS = "daemon"

    def __init__(self, context, case):
        self._context, self._case = context, case

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self._running = stack.enter_context(cluster.running(
                self._context.build, SHAPE.machine(), service_routing=True, **cluster.versions(self._case)))
            self.cluster, self.gpus = self._running.cluster, self._running.gpus
            self._begin()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def _begin(self):
        """Prepares the cluster before the first job."""

    def check(self):
        """Raises Failed if a part of Crossover has ended."""
        self._running.daemons.check()

    def bring(self, library):
        """Puts this library into containers from now on."""
        for node in self.cluster.nodes:
            self._running.daemons.configure(node, node_settings={"library": str(library)})
            self._await_words(node, "configuration reloaded")

    def _await_words(self, node, words):
        end = time.monotonic() + _PATIENCE_S
        while words not in self._running.daemons.said(node):
            if time.monotonic() > end:
                raise Failed(f"the daemon of {node.name} does not say '{words}'")
            time.sleep(0.05)

    @contextlib.contextmanager
    def watching(self):
        """Polls `top` on the first node while two jobs run. Yields a function that returns their gain, from the time
        in which what each takes alone was measured. It uses the second half of that time, since the step times are
        means over ten seconds."""
        gains, over = [], threading.Event()
        thread = threading.Thread(target=self._watch, args=(gains, over), daemon=True)
        thread.start()
        try:
            yield lambda jobs: stats.median(gains[len(gains) // 2:]) if gains else None
        finally:
            over.set()
            thread.join()

    def _watch(self, gains, over):
        node = self.cluster.nodes[0]
        command = node.enter([str(self._context.build.cli), "top", "-o", "json", "--socket", _API])
        while not over.wait(_LOOK_EVERY_S):
            top = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            gpus, jobs = top.get("gpus", []), top.get("jobs", [])
            now = [gpu["gain"] for gpu in gpus if "gain" in gpu]
            sources = {client.get("alone", {}).get("source") for job in jobs for client in job["clients"]}
            if len(jobs) == 2 and sources == {"measured"} and gpus and len(now) == len(gpus):
                gains.append(stats.mean(now))


class ByHand(_Daemons):
    """The benchmark binds each pod and names its GPUs."""

    WORDS = "placed by hand"
    annotations, by_hand = {}, True

    def place(self, jobs):
        for job in jobs:
            job.bind_everywhere(self.gpus.machine)

    def learn(self):
        pass


class ByAnnotation(_Daemons):
    """The extender places the pods, beside a scheduler of its own. It knows of them only what their annotations say."""

    WORDS = _BY_ANNOTATIONS
    annotations, by_hand = {"crossover.dev/profile-key": _KEY}, False

    def _begin(self):
        self._control = Control(self.cluster, self._context.build)
        self._control.prepare()
        self._control.start()

    def place(self, jobs):
        pass

    def learn(self):
        self._control.await_profile(cluster.NAMESPACE, _KEY)

    def check(self):
        super().check()
        self._control.check()


class ByHelm:
    """All of Crossover is installed by `helm install`. A Prometheus reports the gain."""

    WORDS = f"{_BY_ANNOTATIONS}, in a restricted namespace; Crossover by helm install"
    WHO_SAYS = "prometheus"
    annotations, by_hand = {"crossover.dev/profile-key": _KEY}, False
    _LATE = "late"  # a tag
    _GAIN = f'avg(avg_over_time(crossover_gain_ratio{{namespace="{cluster.NAMESPACE}",source="measured"}}[8s]))'

    def __init__(self, context, case):
        self._context, self._case = context, case

    def __enter__(self):
        try:
            with contextlib.ExitStack() as stack:
                self.cluster = stack.enter_context(Cluster(service_routing=True, **cluster.versions(self._case)))
                self.gpus = SoftwareGpus(self.cluster, SHAPE.machine(), self._context.build.gpu_libraries)
                self._install()
                self._stack = stack.pop_all()
        except Refused as refusal:
            raise Failed(str(refusal)) from refusal
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def _install(self):
        self._release = Release(self.cluster, self._context.build, self.gpus)
        self._release.prepare()
        self.cluster.namespace(cluster.NAMESPACE)
        self._release.install()
        self._await_slots()
        self._prometheus = Prometheus(self.cluster)
        self._prometheus.start(self._release.pods("deviceplugin"))

    def _await_slots(self):
        slots = str(slots_per_gpu() * self.gpus.machine.gpus_per_node)
        for node in self.cluster.nodes:
            self.cluster.wait_for("node", node.name, lambda n: n["status"]["allocatable"].get(SLOT) == slots)

    def place(self, jobs):
        pass

    def learn(self):
        wait_until_learnt(self.cluster, cluster.NAMESPACE, _KEY)

    def check(self):
        for component in ("extender", "deviceplugin"):
            for pod in self._release.pods(component):
                if any(status["restartCount"] for status in pod["status"].get("containerStatuses", [])):
                    raise Failed(f"{pod['metadata']['name']} was started again: {self._release.said()}")

    def bring(self, library):
        self._release.add_daemon(self._LATE, library)
        self._release.upgrade(deviceplugin={"image": {"tag": self._LATE}})
        self._await_slots()
        self._prometheus.look_at(self._release.pods("deviceplugin"))

    @contextlib.contextmanager
    def watching(self):
        """Yields a function that asks Prometheus for the gain of two jobs at the end of the time in which both ran."""
        yield self._gain

    def _gain(self, jobs):
        _, end_ns = logs.shared_window(jobs, SHAPE.warm_up)
        found = self._prometheus.query(self._GAIN, time.time() - (time.monotonic_ns() - end_ns) / 1e9)
        return found[0][1] if found else None

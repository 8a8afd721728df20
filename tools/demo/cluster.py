"""Runs the demo on a real Kubernetes of two nodes on this machine. `helm install` installs Crossover there. Two jobs
share by annotations (`share`, and a profile key that the runs alone have taught), and a Prometheus reports the gain.
"""

import contextlib
import shlex
import time
from dataclasses import replace

from testing import logs, validity
from testing.cluster.pods import SLOT
from testing.cluster.prometheus import Prometheus
from testing.cluster.release import Release
from testing.cluster.rig import Cluster
from testing.cluster.software_gpus import SoftwareGpus
from testing.shipped import slots_per_gpu
from tools.demo import demo

PREFIX = f"{demo.MARK}-cluster-"
_TEAM = "team"
_LEARNT_WITHIN_S = 90.0  # a node publishes every half minute what it has learnt
# This is the mean over all GPUs, as the daemons report it, at the end of the time in which both jobs ran.
_GAIN = f'avg(avg_over_time(crossover_gain_ratio{{namespace="{_TEAM}"}}[5s]))'


class ClusterDemo:
    """Runs the demo in a cluster, as a context. `say` takes lines of progress. `work` is what the jobs train (Digits
    or PyTorch). Entering it fails on machines that allow no cluster (Refused, Failed)."""

    def __init__(self, build, say, work):
        self._build, self._say, self._work = build, say, work
        self._machine = work.machine
        # All jobs of a demo are one training: the profile of the first run holds for the others.
        self._profile = {"crossover.dev/profile-key": work.profile_key}
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with self._step("a Kubernetes of two nodes"), contextlib.ExitStack() as stack:
            self.cluster = stack.enter_context(Cluster(service_routing=True, prefix=PREFIX,
                                                       controllers=self._work.controllers))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def run(self):
        """Runs all jobs and returns (outcome, demo.Turns). `alone` then has the logs of the jobs that ran alone."""
        self._install()
        self.alone = alone = [self._run(f"{name} alone", (f"{name}-alone",), first=seed)[0]
                              for seed, name in enumerate(demo.NAMES, 1)]
        with self._step("what they need is learnt"):
            self.cluster.wait_for_any("jobprofiles", _is_learnt, _TEAM, _LEARNT_WITHIN_S)
        free = self._run("both, free-running, MPS", [f"{name}-free" for name in demo.NAMES],
                         {"crossover.dev/mode": "off"})
        meter = validity.CpuMeter()
        ours = self._run("both, Crossover", demo.NAMES)
        used = 1 - meter.idle()
        turns = demo.Turns(self._trace(demo.NAMES), tuple(ours))
        gain = self._gain(ours)
        outcome = demo.judge(alone, [demo.Together("free-running, MPS", tuple(free)),
                                     demo.Together("Crossover", tuple(ours))], turns,
                             self._conditions(alone, used, gain), notes=self._work.notes)
        if gain is None:
            outcome = replace(outcome, faults=(*outcome.faults, f"Prometheus has nothing for {_GAIN}"))
        return outcome, turns

    def how_to_look(self):
        """Returns lines for a user who wants to look around while the cluster stands."""
        lines = [f"alias kubectl='{shlex.join(self.cluster.kubectl.command([]))}'"]
        lines += [f"alias {node.name}='{shlex.join(node.enter([]))}'" for node in self.cluster.nodes]
        return lines + ["kubectl get gpunodes,jobprofiles,pods --all-namespaces",
                        f"{self.cluster.nodes[0].name} ls /run/crossover"]

    def _install(self):
        with self._step("images, software GPUs"):
            self.gpus = SoftwareGpus(self.cluster, self._machine, self._build.gpu_libraries,
                                     self._work.libraries)
            self._release = Release(self.cluster, self._build, self.gpus)
            self._release.prepare()
            self.cluster.namespace(_TEAM)
            self._work.prepare(self.cluster, self._build, _TEAM)
        with self._step("helm install crossover charts/crossover --wait"):
            self._release.install()
            slots = str(slots_per_gpu() * self._machine.gpus_per_node)
            for node in self.cluster.nodes:
                self.cluster.wait_for("node", node.name, lambda n: n["status"]["allocatable"].get(SLOT) == slots)
        with self._step("Prometheus"):
            self._prometheus = Prometheus(self.cluster)
            self._prometheus.start(self._release.pods("deviceplugin"))

    def _run(self, what, names, annotations=None, first=1):
        """Runs jobs of these names at once and returns their logs."""
        with self._step(what):
            jobs = self._work.jobs(self.cluster, _TEAM, names, first, {**self._profile, **(annotations or {})})
            for job in jobs:
                job.create()
            return [job.finish() for job in jobs]

    def _gain(self, jobs):
        """Returns the gain that Prometheus reports, or None if it has none."""
        _, end_ns = logs.shared_window(jobs, demo.WARM_UP)
        at = time.time() - (time.monotonic_ns() - end_ns) / 1e9
        found = self._prometheus.query(_GAIN, at)
        return found[0][1] if found else None

    def _conditions(self, alone, cpu_used, gain):
        programs = self.cluster.setup.programs
        return [*self._work.conditions(alone),
                f"Kubernetes {programs.kube_version} with containerd {programs.containerd_version}, two nodes on this "
                "machine, service routing, RBAC, no DNS; Crossover by helm install; GPUs given through CDI",
                "the jobs are Indexed Jobs of pods at the level restricted of Pod Security, which ask for "
                'nvidia.com/gpu and share by crossover.dev/share: "true" and a crossover.dev/profile-key that the runs '
                'alone have taught; free-running: crossover.dev/mode: "off"',
                f"Prometheus says: gain {'unknown' if gain is None else f'{gain:.2f}x'}, by {_GAIN}",
                f"with Crossover {cpu_used:.0%} of all cores were used, pods' start and the control plane included"]

    def _trace(self, names):
        """Returns the node daemons' events of these jobs, in order of time."""
        gangs = {f"{_TEAM}/{name}" for name in names}
        events = [event for node in self.cluster.nodes for event in self._release.trace(node)]
        return tuple(sorted((event for event in events if event.gang in gangs), key=lambda event: event.t_ns))

    @contextlib.contextmanager
    def _step(self, what):
        began = time.monotonic()
        self._say(f"  {what} ...")
        yield
        self._say(f"  {what}: {time.monotonic() - began:.1f} s")


def _is_learnt(profile):
    return profile.get("status", {}).get("peakMemoryBytes")

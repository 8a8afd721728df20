"""Runs two jobs on one GPU under one way of sharing. One rank of each job is on that GPU. Its other rank, without a
GPU, is on the software GPU of a second node, which both jobs share in the same way.
"""

import time
from dataclasses import dataclass

from benchmarks.gpu import children, rig as rigs, steps
from benchmarks.gpu.children import Cannot

UNSHAPED = 1e12
_READY_S = 120


@dataclass(frozen=True)
class Shape:
    """Describes a job. `command(rig)` returns its program and arguments. `environment` is that of its rank on the GPU.
    `preloads_nccl`: the job finds its NCCL in a way that only a preloaded library precedes."""

    name: str
    command: object
    environment: dict = None
    preloads_nccl: bool = False


@dataclass(frozen=True)
class Way:
    """Names a way of sharing a GPU. `turns`: the library is loaded and an arbiter runs."""

    name: str
    mps: bool
    turns: bool

    @property
    def mode(self):
        return "mps" if self.mps else "timeslice"


FREE_MPS, FREE_SLICES = Way("free_mps", True, False), Way("free_timeslicing", False, False)
TURNS_MPS, TURNS_SLICES = Way("turns_mps", True, True), Way("turns_timeslicing", False, True)


class Crew(children.Started):
    """Runs the jobs of `shapes`, as a context. `link` is (bytes/s of the node's link, thinning). `profiles` holds for
    each job the file of what it computes before each collective, or None, where its peers have nothing to compute.
    `jobs_to_come` is the number of peers for jobs that start later, with start()."""

    def __init__(self, rig, shapes, way, link=(UNSHAPED, 1), profiles=(None, None), mps=None, arbiter_flags=(),
                 jobs_to_come=0):
        super().__init__()
        self.rig, self.shapes, self.way, self.link, self.profiles = rig, shapes, way, link, profiles
        self.mps, self.arbiter_flags, self.jobs_to_come = mps, arbiter_flags, jobs_to_come
        self.directory = rig.fresh(way.name)
        self.jobs, self._sockets = [], [None, None]

    def times(self, index):
        """Returns the file in which a job's stand-in notes its collectives."""
        return self.directory / f"times{index}.jsonl"

    def trace(self, node):
        """Returns the file in which a node's arbiter notes turns."""
        return self.directory / f"node{node}" / "trace.jsonl"

    def _start(self):
        if self.way.turns:
            for node in (0, 1):
                place = self.directory / f"node{node}"
                place.mkdir()
                service, self._sockets[node] = self.rig.start_arbiter(place, *self.arbiter_flags)
                self._stack.callback(children.stop_service, service)
        for index in range(len(self.shapes) + self.jobs_to_come):
            self._start_peer(index)
        for index, shape in enumerate(self.shapes):
            self.jobs.append(self._stack.enter_context(self.start(index, shape)))

    def await_ready(self):
        """Waits until all jobs are ready to begin."""
        for job in self.jobs:
            job.hear(_READY_S)
        return self

    def _machine(self):
        speed, thin = self.link
        return (f"2x1,mode={self.way.mode},node_link_bytes_per_s={speed / thin:.0f},"
                f"nccl_ctas={rigs.COLLECTIVE_CTAS}")

    def links(self, node):
        return {"SIMGPU_MACHINE": self._machine(), "SIMGPU_STATE": self.directory / "machine", "SIMGPU_NODE": node}

    def _library(self, node, index):
        return self.rig.with_library(self._sockets[node], f"job{index}", 2) if self.way.turns else {}

    def _start_peer(self, index):
        prefix = self.directory / f"peer{index}"
        command = [self.rig.program("nccl_peer"), f"{prefix}.1"]
        profile = self.profiles[index] if index < len(self.profiles) else None
        command += [profile] if profile else []
        environment = self.rig.environment(**{**self.links(1), **self._library(1, index),
                                              "LD_LIBRARY_PATH": self.rig.software_libraries})
        service = children.start_service(command, environment, self.directory / f"peer{index}.log",
                                         (self.directory / f"peer{index}.1").exists)
        self._stack.callback(children.stop_service, service)

    def start(self, index, shape):
        """Starts a job's rank on the GPU and returns its children.Program."""
        nccl = self.rig.stand_in()
        own = {**self.links(0), **self._library(0, index), "LD_LIBRARY_PATH": nccl,
               "SIMGPU_NCCL_PEERS": self.directory / f"peer{index}", "SIMGPU_NCCL_THIN": self.link[1],
               "SIMGPU_NCCL_TIMES": self.times(index), "NCCL_DEBUG": "WARN", **(shape.environment or {})}
        if shape.preloads_nccl:
            own["LD_PRELOAD"] = ":".join(str(p) for p in (own.get("LD_PRELOAD"), nccl / "libnccl.so.2") if p)
        if self.mps:
            own |= self.mps.environment
        return children.Program(shape.command(self.rig), self.rig.environment(**own),
                                self.directory / f"job{index}.log")

    def run(self, who, seconds):
        """Lets the jobs with these numbers step for a while. Returns what each reports, in that order. Raises Cannot
        where gradients came back changed."""
        for index in who:
            self.jobs[index].say("go")
        time.sleep(seconds)
        for index in who:
            self.jobs[index].say("stop")
        reports = [self.jobs[index].hear(_READY_S) for index in who]
        for index, report in zip(who, reports):
            if not report.get("intact", True):
                raise Cannot(f"{self.way.name}: the gradients of job {index} came back changed")
        return reports

    def alone(self, index, seconds):
        """Returns the seconds of a step of one job by itself."""
        return steps.step_s(self.run([index], seconds)[0])

    def together(self, seconds):
        """Returns the seconds in which both jobs do one step each, while both run."""
        return steps.cycle_s(self.run([0, 1], seconds))

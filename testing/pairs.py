"""Runs what most figures consist of: a job alone, and two or more together, on software GPUs."""

import random
from dataclasses import dataclass, replace

from testing import bounds, evaluate, logs, session, validity
from testing.commands import GRADIENT_BYTES, Job, experts_bytes, sharded_bytes
from testing.machine import COLLECTIVE_CTAS, SMS, Machine, link_speed_for

MARK = "crossover-bench"
_NAMES = ("alpha", "beta", "gamma", "delta")


@dataclass(frozen=True)
class Shape:
    """Equal jobs: the condition that a case names. Alone, a job is measured after `warm_up`. Together, jobs are
    measured from iteration `counted_from` to the end; 0 is the whole run. "first turn" begins at the first turn of
    the job that takes turns last: the library learns from the first iterations. What the guard tries is included."""

    ratio: float
    variant: str = "plain"
    compute_ms: float = 20.0
    ranks: int = 4
    nodes: int = 2  # or as many as ranks, if these are fewer
    gradient_bytes: int = GRADIENT_BYTES
    jitter: float = 0.0
    tail: float = 0.0  # share of the iterations of a rank that straggle
    mode: str = "mps"
    early_bytes: float = 0.02
    iterations: int = 90
    warm_up: int = 30
    counted_from: object = "first turn"
    alone: int = 0  # iterations of a job alone, if not `iterations`
    queue_depth: int = 1024
    launch_us: int = 5
    links: str = "shared"
    jobs: int = 2
    # These belong to the machine (machine.py): what kernels gain or lose by running at once, and how many SMs
    # collectives need.
    co_run: float = 1.0
    nccl_ctas: int = COLLECTIVE_CTAS
    collective_start: str = "at_once"
    collective_slowdown: float = 0.0
    kernel_sms: str = ""  # of the trainer's kernels, such as 105 or 132,66; empty: the whole GPU
    unkind: tuple = ()  # (key, value) pairs
    fault: str = ""  # SIMGPU_FAULT of each process
    extra: tuple = ()  # arguments of the trainer
    settings: tuple = ()  # (name, value) pairs of variables that the library reads
    late_us: float = validity.LATENESS_P99_LIMIT_US  # a run is void where threads were later at p99
    seats: tuple = ()  # of the machine: which GPU a rank has; empty: ranks fill one node after the other

    def machine(self):
        nodes = self.used_nodes()
        # A job of one rank sends nothing. Its time off the GPU is a stall, and any link will do.
        speed = link_speed_for(self.ratio * self.compute_ms / 1e3, self.payload_bytes(), max(2, self.ranks))
        return Machine(nodes=nodes, gpus_per_node=self.ranks // nodes, mode=self.mode, node_link_bytes_per_s=speed,
                       queue_depth=self.queue_depth, launch_us=self.launch_us, link_sharing=self.links,
                       co_run=self.co_run, nccl_ctas=self.nccl_ctas, collective_start=self.collective_start,
                       collective_slowdown=self.collective_slowdown, unkind=self.unkind, seats=self.seats)

    def used_nodes(self):
        return min(self.nodes, self.ranks)

    def payload_bytes(self):
        """Returns the bytes of an all-reduce that takes as long as all collectives of an iteration."""
        if self.variant == "sharded":
            return sharded_bytes(self.ranks)
        if self.variant == "experts":
            return experts_bytes(self.gradient_bytes, self.ranks, self.used_nodes())
        return self.gradient_bytes

    def environment(self):
        """Returns the environment that each process has because of the shape."""
        return ({"SIMGPU_FAULT": self.fault} if self.fault else {}) | dict(self.settings)

    def job(self, name, seed):
        return Job(name, seed, self.compute_ms, self.iterations, self.variant, self.jitter, self.early_bytes,
                   gradient_bytes=self.gradient_bytes,
                   extra=(*((f"--tail={self.tail:g}",) if self.tail else ()), *self.extra,
                          *((f"--kernel-sms={self.kernel_sms}",) if self.kernel_sms else ())))

    def deadline_s(self):
        """Returns after how long a run is taken for a hang: four times what the jobs take one after the other, and a
        minute."""
        return 60.0 + 4e-3 * self.jobs * (1 + self.ratio) * self.compute_ms * self.iterations

    def limits(self):
        return validity.Limits(late_us=self.late_us)

    def condition(self):
        return (f"{self.jobs} equal jobs of {self.ranks} ranks on {self.used_nodes()} nodes, "
                f"c = {self.compute_ms:g} ms, m/c = {self.ratio:g}, {self.variant}, {self.mode}, "
                f"jitter {self.jitter:.0%}, links {self.links}{''.join(f', {words}' for words in self._unusual())}")

    def _unusual(self):
        """Yields what differs from the default GPU and the plain job, in words."""
        if self.gradient_bytes != GRADIENT_BYTES:
            yield f"{self.gradient_bytes} bytes of gradients"
        if self.tail:
            yield f"stragglers {self.tail:.0%}"
        if self.co_run != 1:
            yield f"co-run {self.co_run:g}"
        if self.kernel_sms:
            yield f"kernels of {self.kernel_sms} SMs"
        if self.nccl_ctas != COLLECTIVE_CTAS:
            yield f"collectives of {self.nccl_ctas} SMs"
        if self.collective_start != "at_once":
            yield "collectives that wait for their SMs"
        if self.collective_slowdown:
            yield f"collectives {1 + self.collective_slowdown:g} times as long beside kernels"
        yield from (f"{key} {value}" for key, value in self.unkind)
        if self.fault:
            yield self.fault
        yield from self.extra
        if self.seats:
            yield f"ranks on GPUs {', '.join(map(str, self.seats))}"
        yield from (f"{name}={value}" for name, value in self.settings)

    def conditions(self, **more):
        """Returns the conditions as data for benchmarks/runner/kinds.py. `more` has what the shape does not know."""
        sms = [int(word) for word in self.kernel_sms.split(",")] if self.kernel_sms else SMS
        return {"kind": "processes", "jobs": self.jobs, "ranks": self.ranks, "c_ms": self.compute_ms,
                "m_over_c": self.ratio, "links": self.links, "jitter": self.jitter, "tail": self.tail,
                "kernel_sms": sms, "co_run": self.co_run, "mode": self.mode, "variant": self.variant,
                "iterations": self.iterations, "counted_from": self.counted_from, "collective_sms": self.nccl_ctas,
                "collective_start": self.collective_start, "collective_slowdown": self.collective_slowdown,
                **({"nodes": self.nodes} if self.nodes != 2 else {}),
                **({"gradient_bytes": self.gradient_bytes} if self.gradient_bytes != GRADIENT_BYTES else {}),
                **({"unkind": dict(self.unkind)} if self.unkind else {}),
                **({"fault": self.fault} if self.fault else {}),
                **({"late_us": self.late_us} if self.late_us != validity.LATENESS_P99_LIMIT_US else {}),
                **({"trainer": list(self.extra)} if self.extra else {}),
                **({"settings": dict(self.settings)} if self.settings else {}),
                **({"seats": list(self.seats)} if self.seats else {}), **more}


def solo(context, shape, library=None, name="alpha", seed=1):
    """Returns (Solo, JobLog) of one of the shape's jobs alone, by default the first; None if no run was valid."""
    result = alone(context, shape, library, name=name, seed=seed)
    if result is None:
        return None
    log = result.job(name)
    return evaluate.solo_of(log, shape.warm_up), log


def alone(context, shape, library=None, environment=None, front=(), name="alpha", seed=1):
    """Returns the Result of one of the shape's jobs alone; None if no run was valid."""
    job = replace(shape.job(name, seed), iterations=shape.alone or shape.iterations)
    return context.session(session.Plan(shape.machine(), (job,), library, shape.deadline_s(), context.isolated,
                                        environment=shape.environment() | (environment or {}), front=front,
                                        limits=shape.limits()))


def together(context, shape, library=None, offset_s=0.0, environment=None, during=None,
             settings=(), signallers=0, front=()):
    """Returns the Result of all jobs at once, the second starting `offset_s` after the others; None if no run was
    valid. `front` has libraries that are preloaded in front of `library`."""
    jobs = tuple(shape.job(name, seed) for seed, name in enumerate(_NAMES[:shape.jobs], 1))
    jobs = (jobs[0], replace(jobs[1], start_delay_s=offset_s), *jobs[2:])
    return context.session(session.Plan(shape.machine(), jobs, library, shape.deadline_s(), context.isolated,
                                        environment=shape.environment() | (environment or {}), during=during,
                                        daemon_settings=settings, signallers=signallers, front=front,
                                        limits=shape.limits()))


def rate(shape, result, alone, bound_ms, whole=False):
    """Returns `evaluate.Shared` of jobs that ran together, relative to one job alone. `whole` means over the whole
    run."""
    return evaluate.shared_within(list(result.jobs.values()), [alone] * shape.jobs, bound_ms,
                                  window(replace(shape, counted_from=0) if whole else shape, result))


def window(shape, result):
    """Returns (begin, end) in ns of what counts. Without turns that is the whole run."""
    of_turns = shape.counted_from == "first turn"
    begin, end = logs.shared_window(list(result.jobs.values()), 0 if of_turns else shape.counted_from)
    first = {}
    for event in result.trace if of_turns else ():
        if event.event == "hold" and event.gang in result.jobs:
            first.setdefault(event.gang, event.t_ns)
    return max([begin, *first.values()]), end


def measured_by(context, goal, measure, runs=None):
    """Returns (value, samples). The value is what `goal` judges of several calls of `measure`: as many as the goal
    asks for, and at least `runs` (default: those of the context). A call that returns None ends them: the value is
    None, and the other samples are kept."""
    samples = []
    count = max(goal.runs, context.runs if runs is None else runs)
    for number in range(count):
        samples.append(measure())
        context.say(f"    run {number + 1} of {count}: "
                    + ("missed" if samples[-1] is None else f"{samples[-1]:.4f}"))
        if samples[-1] is None:
            return None, tuple(samples)
    return goal.of(samples), tuple(samples)


def of_bound(context, eta):
    """Returns `eta` if it is credible. If it beats its bound by more than the measuring error, records a failure."""
    if eta is not None and eta > 1 + bounds.TOLERANCE:
        context.fail(f"{eta:.4f} of a bound that nothing beats: expected at most {1 + bounds.TOLERANCE:g}")
        return None
    return eta


def offsets(count, longest_s, seed=20):
    """Returns random start offsets from a seed."""
    draw = random.Random(seed)
    return [draw.uniform(0.0, longest_s) for _ in range(count)]

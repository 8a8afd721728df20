"""What most figures are made of: a job alone, and two or more together, on software GPUs."""

import random
from dataclasses import dataclass, field, replace

from benchmarks import evaluate, session, stats
from benchmarks.commands import GRADIENT_BYTES, Job
from benchmarks.machine import Machine, link_speed_for

MARK = "crossover-bench"
_NAMES = ("alpha", "beta", "gamma", "delta")


@dataclass
class Context:
    """What a figure gets: the build under measurement, where notes go, and how many runs make a median."""

    build: object
    say: object = print
    runs: int = 5
    isolated: bool = True
    keep: object = None
    voids: list = field(default_factory=list)
    runs_taken: list = field(default_factory=list)  # load and conditions of every timed run

    def session(self, plan, timed=True):
        """A run that is not void, or None after the allowed repeats; why, is kept in `voids`. Where times do not
        matter, neither does how busy the machine was."""
        try:
            if not timed:
                return session.run(self.build, plan, MARK, self.keep)
            result = session.run_valid(self.build, plan, MARK, self.keep, self._void)
            self.runs_taken.append({"jobs": len(plan.jobs), "library": plan.library is not None,
                                    "isolated": result.isolated, **result.load.as_dict()})
            self.say(f"      {result.load.in_words()}")
        except session.Failed as failure:
            self._void(str(failure))
            return None
        return None if result.load.void else result

    def take_notes(self):
        """What is to be said of the runs since the last call."""
        notes = {"void_or_failed": self.voids, "loads": self.runs_taken}
        self.voids, self.runs_taken = [], []
        return {name: note for name, note in notes.items() if note}

    def _void(self, text):
        self.voids.append(text)
        self.say(f"    {text}")


@dataclass(frozen=True)
class Shape:
    """Equal jobs: the condition that a case names."""

    ratio: float
    variant: str = "plain"
    compute_ms: float = 20.0
    ranks: int = 4
    jitter: float = 0.0
    tail: float = 0.0  # share of rank-iterations that straggle
    mode: str = "mps"
    early_bytes: float = 0.02
    iterations: int = 90
    warm_up: int = 30
    queue_depth: int = 1024
    launch_us: int = 5
    links: str = "shared"
    jobs: int = 2
    extra: tuple = ()  # arguments of the trainer

    def machine(self):
        gpus = self.ranks // 2
        speed = link_speed_for(self.ratio * self.compute_ms / 1e3, GRADIENT_BYTES, self.ranks)
        return Machine(nodes=2, gpus_per_node=gpus, mode=self.mode, node_link_bytes_per_s=speed,
                       queue_depth=self.queue_depth, launch_us=self.launch_us, link_sharing=self.links)

    def job(self, name, seed):
        return Job(name, seed, self.compute_ms, self.iterations, self.variant, self.jitter, self.early_bytes,
                   extra=(*((f"--tail={self.tail:g}",) if self.tail else ()), *self.extra))

    def condition(self):
        stragglers = f", stragglers {self.tail:.0%}" if self.tail else ""
        return (f"{self.jobs} equal jobs of {self.ranks} ranks on 2 nodes, c = {self.compute_ms:g} ms, "
                f"m/c = {self.ratio:g}, {self.variant}, {self.mode}, jitter {self.jitter:.0%}{stragglers}, "
                f"links {self.links}")


def solo(context, shape, library=None, name="alpha", seed=1):
    """(Solo, JobLog) of one of the shape's jobs alone, the first if no other is named; None if no run was valid."""
    plan = session.Plan(shape.machine(), (shape.job(name, seed),), library, isolated=context.isolated)
    result = context.session(plan)
    if result is None:
        return None
    log = result.job(name)
    return evaluate.solo_of(log, shape.warm_up), log


def together(context, shape, library=None, offset_s=0.0, environment=None, during=None,
             settings=()):
    """The Result of all jobs at once, the second an offset after the others; None if no run was valid."""
    jobs = tuple(shape.job(name, seed) for seed, name in enumerate(_NAMES[:shape.jobs], 1))
    jobs = (jobs[0], replace(jobs[1], start_delay_s=offset_s), *jobs[2:])
    return context.session(session.Plan(shape.machine(), jobs, library, isolated=context.isolated,
                                        environment=environment or {}, during=during,
                                        daemon_settings=settings))


def rate(shape, result, alone, bound_ms):
    """`evaluate.Shared` of jobs that ran together, rated against one job alone."""
    return evaluate.shared_of(list(result.jobs.values()), [alone] * shape.jobs, bound_ms, shape.warm_up)


def median_of(context, measure):
    """(median, samples) of `context.runs` calls of `measure`; a call that gives None makes the median None."""
    samples = []
    for number in range(context.runs):
        value = measure()
        samples.append(value)
        context.say(f"    run {number + 1} of {context.runs}: {'missed' if value is None else f'{value:.4f}'}")
        if value is None:
            return None, tuple(samples)
    return stats.median(samples), tuple(samples)


def offsets(count, longest_s, seed=20):
    """Seeded random start offsets."""
    draw = random.Random(seed)
    return [draw.uniform(0.0, longest_s) for _ in range(count)]

"""Runs jobs of unequal shape on one set of GPUs, and compares each with its fluid max-min share."""

import math
from dataclasses import dataclass, replace

from testing import evaluate, session
from testing.commands import GRADIENT_BYTES, Job
from testing.machine import COLLECTIVE_CTAS, SMS, Machine, link_speed_for

_NAMES = ("alpha", "beta", "gamma", "delta")
_SECONDS = 6.0  # in which all jobs run together, at their fluid rate
_WARM_UP_S = 2.5
_WARM_UP_ITERATIONS = 7  # of the longest job: some of them are needed to learn the length of its turns


@dataclass(frozen=True)
class Shape:
    """One job: c and m of an iteration alone. `accumulation` multiplies its kernels."""

    compute_ms: float
    exposed_ms: float
    accumulation: int = 1
    priority: str = ""
    max_slowdown: float = 0  # 0: none

    @property
    def step_ms(self):
        return self.compute_ms + self.exposed_ms

    @property
    def use(self):
        return self.compute_ms / self.step_ms

    def __str__(self):
        return f"({self.compute_ms:g}, {self.exposed_ms:g}) ms{' ' + self.priority if self.priority else ''}"


@dataclass(frozen=True)
class Group:
    """Jobs that share all GPUs of a machine."""

    shapes: tuple
    ranks: int = 4
    jitter: float = 0.0
    mode: str = "mps"
    links: str = "shared"
    co_run: float = 1.0

    def machine(self):
        """Returns a machine whose links take exactly the least communication time of a job for the usual gradients."""
        speed = link_speed_for(min(s.exposed_ms for s in self.shapes) / 1e3, GRADIENT_BYTES, self.ranks)
        return Machine(nodes=2, gpus_per_node=self.ranks // 2, mode=self.mode, node_link_bytes_per_s=speed,
                       link_sharing=self.links, co_run=self.co_run)

    @property
    def warm_up_s(self):
        longest = max(s.step_ms for s in self.shapes) / fluid_rate(self.shapes)
        return max(_WARM_UP_S, _WARM_UP_ITERATIONS * longest / 1e3)

    def jobs(self):
        least = min(s.exposed_ms for s in self.shapes)
        rate = fluid_rate(self.shapes)
        for seed, (name, shape) in enumerate(zip(_NAMES, self.shapes), 1):
            iterations = math.ceil((self.warm_up_s + _SECONDS) * 1e3 * rate / shape.step_ms)
            yield Job(name, seed, shape.compute_ms, iterations, jitter=self.jitter,
                      gradient_bytes=round(GRADIENT_BYTES * shape.exposed_ms / least), priority=shape.priority,
                      max_slowdown=shape.max_slowdown,
                      extra=(f"--accumulation={shape.accumulation}",) if shape.accumulation > 1 else ())

    def conditions(self, **more):
        """Returns the conditions as data for benchmarks/runner/kinds.py, with a number for each job."""
        return {"kind": "processes", "jobs": len(self.shapes), "ranks": self.ranks,
                "c_ms": [s.compute_ms for s in self.shapes],
                "m_over_c": [s.exposed_ms / s.compute_ms for s in self.shapes], "links": self.links,
                "jitter": self.jitter, "kernel_sms": SMS, "co_run": self.co_run, "mode": self.mode,
                "priorities": [s.priority for s in self.shapes], "caps": [s.max_slowdown for s in self.shapes],
                "counted_from_s": self.warm_up_s, **more}

    def condition(self):
        return (f"{' beside '.join(map(str, self.shapes))}, {self.ranks} ranks each on 2 nodes, {self.mode}, "
                f"jitter {self.jitter:.0%}, links {self.links}"
                f"{f', co-run {self.co_run:g}' if self.co_run != 1 else ''}")


@dataclass(frozen=True)
class Together:
    """The result of jobs that ran together: one number for each job."""

    cycles_ms: list
    longest_waits_ms: list
    refused: tuple = ()  # names of jobs whose caps were refused


def fluid_rate(jobs):
    """Returns theta, the share of its own speed at which every job can run. The GPU serves them all and also what
    their exposed collectives take of it, and so does the link."""
    spinning = COLLECTIVE_CTAS / SMS
    gpu = sum((j.compute_ms + spinning * j.exposed_ms) / j.step_ms for j in jobs)
    link = sum(j.exposed_ms / j.step_ms for j in jobs)
    return min(1.0, 1.0 / gpu, 1.0 / link)


def alone(context, group, library=None, settings=()):
    """Returns evaluate.Solo of each job, or None if a run was void. With `library`, the jobs run under a daemon with
    `settings`."""
    solos = []
    for job in group.jobs():
        # A job alone need not run longer than it takes to measure its step.
        steps = max(12, math.ceil(3000 / (job.compute_ms + 1)))
        plan = session.Plan(group.machine(), (replace(job, iterations=min(job.iterations, steps)),), library,
                            isolated=context.isolated, daemon_settings=settings)
        result = context.session(plan)
        if result is None:
            return None
        solos.append(evaluate.solo_of(result.job(job.name), 5))
    return solos


def together(context, group, library, settings=(), environment=None):
    """Returns `Together` for the time in which all jobs ran, or None if a run was void."""
    if not context.has(library):
        return None
    jobs = tuple(group.jobs())
    result = context.session(session.Plan(group.machine(), jobs, library, isolated=context.isolated,
                                          daemon_settings=settings, environment=environment or {}))
    if result is None:
        return None
    spans = [result.job(job.name).span(0) for job in jobs]
    begin = max(s[0] for s in spans) + int(group.warm_up_s * 1e9)
    end = min(s[1] for s in spans)
    if end - begin < 1e9:
        context.fail(f"the jobs ran together for {(end - begin) / 1e9:.1f} s only")
        return None
    return Together([result.job(job.name).cycle_ms_within(begin, end) for job in jobs],
                    [_longest_wait_ms(result.trace, job.name, begin, end) for job in jobs],
                    tuple(sorted({e.gang for e in result.trace if e.event == "refuse_cap"})))


def _longest_wait_ms(trace, gang, begin, end):
    """Returns the longest wait for a turn, or in the middle of one, on any GPU."""
    asked, longest = {}, 0.0
    for event in trace:
        if event.gang != gang or not begin <= event.t_ns <= end:
            continue
        if event.event == "arrive":
            asked[event.gpu] = event.t_ns
        elif event.event == "hold" and event.gpu in asked:
            longest = max(longest, (event.t_ns - asked.pop(event.gpu)) / 1e6)
    return longest


def rates(solos, cycles):
    """Returns x of each job: the share of its own speed at which it ran."""
    return [solo.step_ms / cycle for solo, cycle in zip(solos, cycles)]


def measured(solos):
    """Returns the shapes as they were measured alone."""
    return [Shape(s.compute_ms, s.exposed_ms) for s in solos]


def whole_turns(shapes, links="private", rounds=400):
    """Returns the rates of jobs that take whole turns. The GPU never rests while a job waits, and the job that waits
    longest goes first. With two jobs there is no other choice: the job whose turn ends then communicates. The share
    of the GPU that exposed collectives take comes on top, as in T*. On shared links, jobs that communicate at the
    same time get equal parts of the speed."""
    spinning = COLLECTIVE_CTAS / SMS
    now, done, runs, ends = 0.0, [0] * len(shapes), None, 0.0
    waiting, away = list(range(len(shapes))), {}  # in order of arrival; what each has left to communicate
    while sum(done) < rounds * len(shapes):
        if runs is None and waiting:
            runs = waiting.pop(0)
            ends = now + shapes[runs].compute_ms + spinning * shapes[runs].exposed_ms
        slower = max(1, len(away)) if links == "shared" else 1
        back = min((left * slower for left in away.values()), default=math.inf)
        step = min(back, ends - now if runs is not None else math.inf)
        now += step
        for job in away:
            away[job] -= step / slower
        for job in [job for job, left in away.items() if left <= 1e-9]:
            del away[job]
            waiting.append(job)
            done[job] += 1
        if runs is not None and ends - now <= 1e-9:
            away[runs], runs = shapes[runs].exposed_ms, None
    return [count * shape.step_ms / now for count, shape in zip(done, shapes)]

"""Runs pairs of unmodified PyTorch jobs on a software machine of two GPUs, for figures: what each job takes alone, and
what both reach together. Times of steps are those that the jobs print, which is each tenth; they wait for their GPU
there. What the GPUs and the links do is the software GPU's own record, not the daemon's."""

import re
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from testing import bounds, logs, stats, validity
from testing.commands import is_known_bad
from testing.frameworks import software_gpu
from testing.machine import SMS

RANKS = 2
_SCRIPT = "ddp.py"
_WARM_UP = 20  # steps: the first are those in which PyTorch allocates, and DDP arranges its buckets
_STEP = re.compile(r"^step (\d+) at ([\d.]+) s$", re.MULTILINE)
_NAMES = ("alpha", "beta")
_POLL_S = 0.1
_ENDLESS = 10_000_000  # steps


@dataclass(frozen=True)
class Program:
    """A Program is a job: ddp.py with its options, for how many steps it runs alone, and how many count beside
    another."""

    name: str
    options: tuple = ()
    alone: int = 60
    together: int = 110


@dataclass(frozen=True)
class Pair:
    """Two jobs and the machine on which they meet. `kernel_scale` multiplies the times of kernels, so that the host
    keeps up with them."""

    programs: tuple
    kernel_scale: float
    link_bytes_per_s: float
    links: str = "shared"

    def condition(self):
        return (f"{' beside '.join(p.name for p in self.programs)}, two ranks each on one node, kernels x "
                f"{self.kernel_scale:g}, links {self.links}, {self.link_bytes_per_s / 1e6:g} MB/s")

    def conditions(self, alone):
        """Returns the conditions as data for benchmarks/runner/kinds.py. `alone` is what alone_of() returns."""
        return {"kind": "processes", "jobs": len(self.programs), "ranks": RANKS,
                "c_ms": [round(job.compute_ms, 3) for job in alone],
                "m_over_c": [round(job.exposed_ms / job.compute_ms, 3) for job in alone],
                "wire_ms": [round(job.wire_ms, 3) for job in alone], "links": self.links, "jitter": 0,
                "kernel_sms": SMS, "co_run": 1, "mode": "mps", "kernel_scale": self.kernel_scale,
                "link_bytes_per_s": self.link_bytes_per_s, "programs": [" ".join((_SCRIPT, *p.options))
                                                                       for p in self.programs]}


@dataclass(frozen=True)
class Alone:
    """Holds what a step of a job takes without another job and without the library: as a whole, on the GPU in anything
    but collectives, and on the link."""

    step_ms: float
    compute_ms: float
    wire_ms: float

    @property
    def exposed_ms(self):
        return max(0.0, self.step_ms - self.compute_ms)


@dataclass(frozen=True)
class Shared:
    """Holds what two jobs reached together. `rates` are relative to each job alone; `gain` is their sum."""

    rates: tuple
    eta: float
    turns: tuple

    @property
    def gain(self):
        return sum(self.rates)


@dataclass(frozen=True)
class Course:
    """Holds what a job and the machine did in a run: the lines about its steps as (step, time in s), the software GPU's
    reports, its turns, and when it had the first one."""

    ticks: list
    reports: list
    turns: int = 0
    first_turn_s: float = 0.0


@dataclass(frozen=True)
class _Run:
    """Holds a run: the course of each job, and the shares of all cores that were used and stolen while all of them
    trained."""

    courses: tuple
    used: float
    stolen: float

    @property
    def void(self):
        """Says why the run is void, or "". How late kernels are is not judged: while PyTorch is loaded, all are. Nor is
        a short run alone, from which only the start is taken."""
        limit = validity.CPU_LIMIT
        if len(self.courses) == 1 and self.courses[0].ticks[-1][0] <= _WARM_UP:
            return ""
        return f"{self.used:.0%} of all cores used, limit {limit:.0%}" if self.used > limit else ""


def best_gain(alone, links):
    """Returns the largest sum of relative rates that any schedule reaches: of what the GPU, the links and each job
    alone allow, where the kernels of one job run at a time. With the rates x_i of jobs relative to themselves alone,
    sum x_i c_i / s_i <= 1 on the GPU, sum x_i wire_i / s_i <= 1 on links that are shared, and x_i <= 1. The SMs that a
    collective holds do not count, since kernels that do not fill the GPU do not miss them. The sum is greatest at a
    corner of that polygon."""
    gpu = [job.compute_ms / job.step_ms for job in alone]
    wire = [job.wire_ms / job.step_ms for job in alone]
    limits = [(gpu, 1.0), ((1, 0), 1.0), ((0, 1), 1.0)]
    limits += [(wire, 1.0)] if links == "shared" else [((wire[0], 0), 1.0), ((0, wire[1]), 1.0)]
    corners = [(0.0, 0.0)]
    for number, ((a, b), e) in enumerate(limits):
        corners += [(e / a, 0.0)] if a > 0 else []
        corners += [(0.0, e / b)] if b > 0 else []
        for (c, d), f in limits[:number]:
            if abs(a * d - b * c) > 1e-12:
                corners.append(((e * d - b * f) / (a * d - b * c), (a * f - c * e) / (a * d - b * c)))
    return max(x + y for x, y in corners if min(x, y) >= -1e-9
               and all(a * x + b * y <= e + 1e-9 for (a, b), e in limits))


def alone_of(context, pair):
    """Returns what each job of the pair takes alone, or None where a run was void or failed. A job is alone twice, for
    _WARM_UP steps and for its full number: what lies between them is free of the start."""
    known = {}
    for program in pair.programs:
        if program not in known:
            both = [_valid(context, pair, (program,), (steps,), None) for steps in (_WARM_UP, program.alone)]
            if None in both:
                return None
            known[program] = difference(program, *(run.courses[0] for run in both))
    return tuple(known[program] for program in pair.programs)


def together(context, pair, alone, library):
    """Returns Shared of both jobs, or None where the run was void or failed. What counts begins when both jobs are
    warm, with a library also when both have had a turn, and lasts for as many steps as each program says."""
    if library is not None and not context.has(library):
        return None
    run = _valid(context, pair, pair.programs, [_ENDLESS] * len(pair.programs), library)
    if run is None:
        return None
    if library is not None and not all(course.turns for course in run.courses):
        context.fail(f"{pair.condition()}: expected turns of both jobs, got {[c.turns for c in run.courses]}")
        return None
    ticks = [course.ticks for course in run.courses]
    begin = _all_warm(run.courses)
    end = min(t[-1][1] for t in ticks)
    rates = tuple((step_at(t, end) - step_at(t, begin)) * job.step_ms / 1e3 / (end - begin)
                  for t, job in zip(ticks, alone))
    return Shared(rates, sum(rates) / best_gain(alone, pair.links), tuple(course.turns for course in run.courses))


def of_bound(context, shared):
    """Returns eta if it is credible, as pairs.of_bound() does."""
    if shared is not None and shared.eta > 1 + bounds.TOLERANCE:
        context.fail(f"{shared.eta:.4f} of a bound that nothing beats: expected at most {1 + bounds.TOLERANCE:g}")
        return None
    return shared and shared.eta


def difference(program, short, long):
    """Returns Alone of what a long run has more than a short one."""
    steps = program.alone - _WARM_UP

    def more(key):
        return max(_most(long.reports, key, gpu) - _most(short.reports, key, gpu) for gpu in _gpus(long.reports))

    step_s = (time_of(long.ticks, program.alone) - time_of(long.ticks, _WARM_UP)) / steps
    return Alone(step_s * 1e3, more("work_ns") / 1e6 / steps, more("gpu_link_ns") / 1e6 / steps)


def _gpus(reports):
    return {gpu for report in reports for gpu in report["work_ns"]}


def _most(reports, key, gpu):
    """Returns what the report that was written last has: these times only grow where one job uses the links."""
    return max(report[key].get(gpu, 0) for report in reports)


def _valid(context, pair, programs, steps, library):
    """Returns a run that is not void, or None. The context gets its load, or why it failed."""
    run = {"run": "control" if is_known_bad(library) else "alone" if len(programs) == 1 else "together",
           "jobs": [f"{p.name}, {count} steps" for p, count in zip(programs, steps)],
           "library": library and library.name, "settings": list(context.settings), "machine": pair.condition()}
    for _ in range(1 + validity.REPEATS):
        try:
            taken = _run(context, pair, programs, steps, library)
        except AssertionError as error:
            context.fail(str(error), run)
            return None
        context.runs_taken.append({**run, "cpu": round(taken.used, 3), "stolen": round(taken.stolen, 4),
                                   "void": taken.void})
        context.say(f"      {taken.used:.0%} of all cores used, {taken.stolen:.1%} stolen")
        if not taken.void:
            return taken
        context.voids.append({**run, "why": taken.void})
        context.say(f"    void ({taken.void})")
        validity.wait_until_quiet()
    return None


def host_step(build, pair, steps, library=None, environment=()):
    """Returns (seconds of a step, kernels in a step of a rank) of the pair's first job, alone for so many steps beside
    a daemon. A job that does not end well is an AssertionError."""
    with _machine_of(build, pair) as (machine, reports):
        machine.start_arbiter()
        name, program = _NAMES[0], pair.programs[0]
        process = machine.start(name, _SCRIPT, *program.options, "--steps", steps, library=library, recorded=False,
                                environment=environment)
        ticks = ticks_of(machine.finish(name, process))
        kernels = sum(report["kernels"] for report in logs.read_reports(reports))
    return (time_of(ticks, steps) - time_of(ticks, _WARM_UP)) / (steps - _WARM_UP), kernels / steps / RANKS


@contextmanager
def _machine_of(build, pair):
    """A context of (machine of a pair, folder of the software GPU's reports)."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        reports = Path(directory, "reports")
        reports.mkdir()
        with software_gpu.Machine(directory, pair.kernel_scale, build=build, links=pair.links,
                                  link_bytes_per_s=pair.link_bytes_per_s) as machine:
            machine.environment["SIMGPU_REPORT"] = str(reports)
            yield machine, reports


def _run(context, pair, programs, steps, library):
    with _machine_of(context.build, pair) as (machine, reports):
        if library is not None:
            machine.start_arbiter(context.settings)
        jobs = {name: machine.start(name, _SCRIPT, *program.options, "--steps", count, library=library, recorded=False)
                for name, program, count in zip(_NAMES, programs, steps)}
        used, stolen = _alone(machine, jobs) if len(jobs) == 1 else _beside(machine, jobs, programs)
        return _Run(_courses(machine, jobs, logs.read_reports(reports)), used, stolen)


def _courses(machine, jobs, reports=()):
    holds = [event for event in logs.read_traces([machine.trace]) if event.event == "hold"]
    turns = {name: [event.t_ns for event in holds if event.gang == name] for name in jobs}
    return tuple(Course(ticks_of(machine.said(name)), reports, len(turns[name]), min(turns[name], default=0) / 1e9)
                 for name in jobs)


def _all_warm(courses):
    """Returns when all jobs were warm and had had their first turn, if they take turns."""
    return max(max(time_of(course.ticks, _WARM_UP), course.first_turn_s) for course in courses)


def _alone(machine, jobs):
    """Waits until the job has ended. Returns the shares of all cores that were used and stolen since it had said
    something of its steps."""
    meter = _until(machine, jobs, lambda: ticks_of(machine.said(_NAMES[0])) and validity.CpuMeter())
    machine.finish(_NAMES[0], jobs[_NAMES[0]])
    return meter.shares()


def _beside(machine, jobs, programs):
    """Waits until each job has trained beside the other for as many steps as its program says. Returns the shares of
    all cores that were used and stolen meanwhile."""
    def ticks():
        return [ticks_of(machine.said(name)) for name in jobs]

    _until(machine, jobs, lambda: all(of_job and of_job[-1][0] >= _WARM_UP for of_job in ticks()))
    begin, meter = _all_warm(_courses(machine, jobs)), validity.CpuMeter()  # the trace is long: it is read once
    _until(machine, jobs, lambda: all(
        of_job[-1][1] > begin and of_job[-1][0] - step_at(of_job, begin) >= program.together
        for of_job, program in zip(ticks(), programs)))
    return meter.shares()


def _until(machine, jobs, reached):
    """Waits until `reached()` is true, and returns it. A job that ends badly meanwhile, or both that do not come so far
    in time, are an AssertionError."""
    end = time.monotonic() + software_gpu.PATIENCE_S
    while not (found := reached()):
        for name, process in jobs.items():
            if process.poll() is not None:
                machine.finish(name, process)
        if time.monotonic() > end:
            raise AssertionError(f"expected all jobs to train within {software_gpu.PATIENCE_S} s, got "
                                 f"{[machine.said(n) for n in jobs]}")
        time.sleep(_POLL_S)
    return found


def ticks_of(said):
    """Returns (step, time in s) of each line about a step."""
    return [(int(step), float(at)) for step, at in _STEP.findall(said)]


def time_of(ticks, step):
    """Returns when a step had ended. A step without a line is an AssertionError."""
    for number, at in ticks:
        if number == step:
            return at
    raise AssertionError(f"step {step}: expected a line about it, got {[number for number, _ in ticks]}")


def step_at(ticks, at):
    """Returns how many steps had been done at a time, between two lines in proportion."""
    for (before, begin), (after, end) in zip(ticks, ticks[1:]):
        if begin <= at <= end:
            return before + (after - before) * (at - begin) / (end - begin)
    raise AssertionError(f"{at:.3f} s: expected a time from {ticks[0][1]:.3f} to {ticks[-1][1]:.3f} s")


def median_rates(shared):
    """Returns the median over runs of each job's relative rate."""
    return [round(stats.median(rates), 4) for rates in zip(*(run.rates for run in shared))]

"""Measures jobs that share the GPU: what sharing gains, against the bound and the other ways of the same run. The jobs
are those of gpu_job. benchmarks/gpu/torch_parts.py does the same with PyTorch's.
"""

import contextlib
import os
import random
import signal
import time
from dataclasses import dataclass

from benchmarks.gpu import children, crew, steps
from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import ETA, GAIN, GUARD, NEVER, SOLO_OVERHEAD, Goal, figure, shown
from benchmarks.gpu.parts import Part, Promise
from benchmarks.gpu.rig import COLLECTIVE_CTAS, Mps
from benchmarks.gpu.ways import NO_MPS
from testing import stats

WAYS = (crew.FREE_MPS, crew.FREE_SLICES, crew.TURNS_MPS, crew.TURNS_SLICES)
_GRADIENT_BYTES, _SOFTWARE_GRADIENT_BYTES = 4 << 20, 64 << 10  # two cores that also play the GPU move fewer
_STRANGERS = 3
_FREE_LINK = crew.UNSHAPED, 256  # next to nothing moves, and it moves as fast as can be
_GAIN_FROM = 0.3  # m/c
_PROCESS_MIB = 1024  # of GPU memory that a job of gpu_job takes, its context included


def gradient_bytes(rig):
    return _SOFTWARE_GRADIENT_BYTES if rig.software else _GRADIENT_BYTES


def native(compute_us):
    return crew.Shape("native", lambda rig: [rig.program("gpu_job"), compute_us, gradient_bytes(rig)])


@dataclass(frozen=True)
class Case:
    """Describes two jobs and the link that they share. `link` maps a job's profile to (bytes/s, thinning)."""

    name: str
    shapes: tuple
    link: object
    wanted: float = 0.0  # m/c, where the link is chosen for it


def link_for(ratio):
    """Returns a function that chooses the link that exposes `ratio` of compute of gpu_job. gpu_job has four equal
    buckets, the last after 0.9 of compute."""
    def choose(profile):
        share = 4 * ratio if ratio <= 0.15 else ratio + 0.45
        return profile.moved_bytes / (share * profile.compute_s), 1
    return choose


def calibrate(rig, shape, mps=None):
    """Returns (profile, seconds of a step) of a job alone whose links cost nothing and whose other ranks are never
    late."""
    with crew.Crew(rig, (shape,), crew.FREE_MPS, _FREE_LINK, mps=mps) as alone:
        alone.await_ready()
        alone.run([0], rig.pick(2.0, 0.5))
        report = alone.run([0], rig.pick(4.0, 1.0))[0]
        alone.jobs[0].end()  # it writes what it noted when it ends
        lines = alone.times(0).read_text(encoding="utf-8").splitlines()
    return steps.profile_of(lines, report), steps.step_s(report)


def share(rig, case, ways=WAYS, all_at_once=True):
    """Yields all that is measured of a case: lines of several figures. A way that fails is left out, and the lines say
    so. `all_at_once`: the jobs of all ways are there from the start, and those of one way step at a time; else the jobs
    of a way start when it is due, which takes longer and needs less memory."""
    with contextlib.ExitStack() as stack:
        refused = {}
        try:
            mps = stack.enter_context(Mps(rig, rig.fresh("mps")))
        except Cannot as reason:
            mps, refused = None, {way.name: f"{NO_MPS}{reason}" for way in ways if way.mps}
        try:
            seen = _measure(rig, case, [way for way in ways if not way.mps or mps], mps, all_at_once)
            seen.refused = refused | seen.refused
        except (Cannot, ValueError) as reason:
            yield from _nothing(case, f"{reason}; {_in_words(refused)}" if refused else str(reason))
            return
    yield from _rate(rig, case, seen)


@dataclass
class Seen:
    """Holds what was measured of a case. `refused` says of each way that gave nothing why, by the way's name. `turns`
    has for each way with turns how many each job has held."""

    compute: list
    link_s: list
    alone: list = None
    cycle: dict = None
    speed_up: dict = None
    disturbed: tuple = None  # (cycle, speed-up) of turns beside processes that take none
    refused: dict = None
    turns: dict = None


def _measure(rig, case, ways, mps, all_at_once):
    shapes = list(case.shapes)
    known = {}
    for shape in shapes:
        if shape.name not in known:
            known[shape.name] = calibrate(rig, shape, mps)
    profiles = [known[shape.name][0] for shape in shapes]
    link = case.link(profiles[0])
    files = []
    for index, profile in enumerate(profiles):
        files.append(rig.fresh("profile") / f"{index}")
        files[-1].write_text(profile.text(link[1]), encoding="utf-8")
    seen = Seen([known[shape.name][1] for shape in shapes], [p.moved_bytes / link[0] for p in profiles], None, {}, {},
                None, {}, {})
    with contextlib.ExitStack() as stack:
        crews = {way.name: crew.Crew(rig, shapes, way, link, files, mps if way.mps else None) for way in ways}
        if all_at_once:
            for one in crews.values():
                stack.enter_context(one)
        for name, one in crews.items():
            try:
                with contextlib.nullcontext(one) if all_at_once else one:
                    _measure_way(rig, seen, one, mps)
            except (Cannot, ValueError) as reason:
                seen.refused[name] = str(reason)
    if not any(name.startswith("turns") for name in seen.cycle):
        raise Cannot(_in_words(seen.refused))
    return seen


def _measure_way(rig, seen, one, mps):
    """Measures the jobs of one way, which are started, and writes what it finds to `seen`."""
    seconds, name = rig.pick(4.0, 3.0), one.way.name
    one.await_ready()
    if seen.alone is None:
        seen.alone = [_long_enough(lambda s, job=index: one.alone(job, s), seconds) for index in range(2)]
    if one.way.turns:
        one.run([0, 1], seconds)  # the library learns, and so does the guard
    seen.cycle[name], seen.speed_up[name] = _long_enough(lambda s: _rates(one, seen, s), seconds)
    if one.way.turns:
        seen.turns[name] = [steps.turns_of(one.trace(0), f"job{index}") for index in range(2)]
    if name != (crew.TURNS_MPS if mps else crew.TURNS_SLICES).name:
        return
    try:
        seen.disturbed = _beside_a_stranger(rig, one, seen, seconds)
    except (Cannot, ValueError) as reason:  # the figure stays, without its control
        seen.refused["control"] = str(reason)


def _rates(one, seen, seconds):
    """Runs both jobs of a way. Returns (cycle, speed-up)."""
    reports = one.run([0, 1], seconds)
    return steps.cycle_s(reports), steps.speed_up(seen.alone, reports)


def _long_enough(measure, seconds):
    """Returns measure(seconds). Where jobs made too few steps it measures again, up to nine times as long: a machine
    that is busy with other work has slow steps."""
    for _ in range(2):
        try:
            return measure(seconds)
        except steps.TooFew:
            seconds *= 3
    return measure(seconds)


def _in_words(refused):
    return "; ".join(f"{name}: {reason}" for name, reason in refused.items())


def _nothing(case, reason):
    """Yields the lines of a case of which nothing was measured."""
    for name, unit, goal in (("gpu_eta", "1", ETA), ("gpu_guard", "of one after the other", GUARD),
                             ("gpu_gain_over_best_baseline", "x", GAIN)):
        yield figure(name, case.name, None, unit, goal, (), None, "", reason=reason)


def _beside_a_stranger(rig, one, seen, seconds):
    """Measures a known-bad case, the jobs beside processes that compute all the time and take no turns. Returns (cycle,
    speed-up)."""
    environment = one.links(0) if rig.software else {}
    if one.mps:
        environment |= one.mps.environment
    with contextlib.ExitStack() as stack:
        for _ in range(_STRANGERS):
            stranger = stack.enter_context(children.Program(
                [rig.program("gpu_probe"), "loop", 3000], rig.environment(**environment),
                one.directory / "stranger.log"))
            stranger.hear(30)
        return _long_enough(lambda s: _rates(one, seen, s), seconds)


def _rate(rig, case, seen):
    sms = rig.facts["sms"]
    bound = steps.bound_s(seen.alone, seen.compute, seen.link_s, COLLECTIVE_CTAS, sms)
    ratio = stats.mean([step / c - 1 for step, c in zip(seen.alone, seen.compute)])
    condition = (f"m/c {ratio:.2f}; steps alone {', '.join(f'{1e3 * s:.2f}' for s in seen.alone)} ms, compute "
                 f"{', '.join(f'{1e3 * c:.2f}' for c in seen.compute)} ms; T* {1e3 * bound:.2f} ms")
    condition += f"; not measured: {_in_words(seen.refused)}" if seen.refused else ""
    remarks = {"cycle_ms": {name: 1e3 * s for name, s in seen.cycle.items()}, "back_to_back_ms": 1e3 * sum(seen.alone),
               "speed_up": seen.speed_up, "turns": seen.turns, "left_out": _in_words(seen.refused)}
    turns = {name: value for name, value in seen.speed_up.items() if name.startswith("turns")}
    cycle, disturbed = seen.cycle.get(crew.TURNS_MPS.name), seen.disturbed or (None, None)

    def strangers(value):
        return ("strangers compute beside them and take no turns", value)
    if cycle:
        yield figure("gpu_eta", case.name, bound / cycle, "1", ETA, (),
                     strangers(disturbed[0] and bound / disturbed[0]), condition, **remarks)
    else:
        yield figure("gpu_eta", case.name, None, "1", ETA, (), None, condition,
                     reason=seen.refused.get(crew.TURNS_MPS.name, "turns under MPS were not asked for"))
    yield figure("gpu_guard", case.name, min(turns.values()), "of one after the other", GUARD, tuple(turns.values()),
                 strangers(disturbed[1]), condition + "; the worst of all ways", **remarks)
    baselines = [value for name, value in seen.speed_up.items() if name.startswith("free")] + [1.0]
    gain = max(turns.values()) / max(baselines)
    if ratio >= _GAIN_FROM - 0.02:
        yield figure("gpu_gain_over_best_baseline", case.name, gain, "x", GAIN, (),
                     strangers(disturbed[1] and disturbed[1] / max(baselines)), condition, **remarks)
    else:
        yield shown("gpu_gain_over_best_baseline_beside", case.name, gain, "x", condition, **remarks)


def fits_at_once(rig, processes):
    """Returns whether so many processes of gpu_job fit in the GPU's memory at once. On the software GPU the processes
    would also need the machine's few cores at once."""
    return not rig.software and rig.facts.get("free_mib", 0) >= processes * _PROCESS_MIB


def jobs(rig, ratios=(0.1, 0.3, 0.6, 1.0), ways=WAYS):
    """Measures item (f): jobs of a fixed amount of work, by m/c."""
    compute_us = 10_000
    for ratio in rig.pick(ratios, (0.6,)):
        case = Case(f"native_{ratio:g}", (native(compute_us), native(compute_us)), link_for(ratio), ratio)
        yield from share(rig, case, ways, all_at_once=fits_at_once(rig, 2 * len(ways) + _STRANGERS))


def solo(rig, shape=None, name="native"):
    """Compares a job's step with the library with its step without, in turn: both jobs are there, one steps at a
    time."""
    shape = shape or native(10_000)
    rounds, seconds = rig.pick(12, 4), rig.pick(2.0, 0.6)
    with crew.Crew(rig, (shape,), crew.FREE_SLICES) as plain, crew.Crew(rig, (shape,), crew.TURNS_SLICES) as hooked:
        for one in (plain, hooked):
            one.await_ready()
            one.run([0], seconds)
        ratios, same = [], []
        for _ in range(rounds):
            first, ours, again = plain.alone(0, seconds), hooked.alone(0, seconds), plain.alone(0, seconds)
            ratios.append(ours / (first + again) * 2 - 1)
            same.append(abs(again / first - 1))
        slowed = _slowed(rig, plain, seconds)
    goal = SOLO_OVERHEAD if not rig.software else Goal("<=", 0.05)
    yield figure("gpu_solo_overhead", name, stats.median(ratios), "1", goal, ratios,
                 ("beside a process that computes a little", slowed), "a step alone with the library against without",
                 between_runs_without=stats.median(same))


def _slowed(rig, plain, seconds):
    before = plain.alone(0, seconds)
    environment = plain.links(0) if rig.software else {}
    with children.Program([rig.program("gpu_probe"), "loop", 1000], rig.environment(**environment),
                          plain.directory / "stranger.log") as stranger:
        stranger.hear(30)
        return plain.alone(0, seconds) / before - 1


def kills(rig, shape=None, name="native", count=None):
    """Sends SIGKILL to either job at random instants. The other must go on; a second figure is how long its worst step
    lasts."""
    shape, draw = shape or native(10_000), random.Random(20)
    count = count or rig.pick(20, 4)
    bad, stalls, words = 0, [], []
    for number in range(count):
        with _mps_or_none(rig) as mps:
            way = crew.TURNS_MPS if mps else crew.TURNS_SLICES
            try:
                stalls.append(_kill(rig, shape, way, mps, number % 2, draw.uniform(0, 0.3)))
            except NotReady:  # no job was killed
                raise
            except Cannot as reason:
                bad += 1
                words.append(str(reason))
    with _mps_or_none(rig) as mps:
        control = _frozen(rig, shape, way, mps)
    case = f"{name}_{way.mode}"
    yield figure("gpu_kills", case, bad, f"of {count}: the other did not go on", NEVER, (),
                 ("the other is stopped, too", control), "SIGKILL of either job at a random instant", words=words)
    if stalls:
        yield shown("gpu_kills_stall_ms", case, stats.percentile(stalls, 99), "ms at p99, over its usual step",
                    stalls=stats.summary(stalls))


@contextlib.contextmanager
def _mps_or_none(rig):
    """Yields an MPS of its own, or None where there is none. What a kill does to one MPS must not be seen by the next
    kill."""
    with contextlib.ExitStack() as stack:
        try:
            mps = stack.enter_context(Mps(rig, rig.fresh("mps")))
        except Cannot:
            mps = None
        yield mps


class NotReady(Cannot):
    """Says that jobs did not come so far that one could be killed."""


def await_ready(one):
    """Waits until all jobs of a crew are ready. Raises NotReady where one does not become so."""
    try:
        return one.await_ready()
    except Cannot as reason:
        raise NotReady(str(reason)) from reason


def _kill(rig, shape, way, mps, victim, later_s):
    """Returns by how many milliseconds the worst of the first steps after the kill exceeds the median step. Raises
    Cannot where the other job did not go on."""
    with crew.Crew(rig, (shape, shape), way, (gradient_bytes(rig) / 0.010, 1), mps=mps) as both:
        await_ready(both)
        for job in both.jobs:
            job.say("go")
        time.sleep(rig.pick(1.0, 0.8) + later_s)
        killed_ns = time.monotonic_ns()
        both.jobs[victim].kill()
        time.sleep(0.7)
        both.jobs[1 - victim].say("stop")
        ends = both.jobs[1 - victim].hear(20)["ends_ns"]
    steps_ms = [((b - a) / 1e6, b) for a, b in zip(ends, ends[1:])]
    after = [took for took, end in steps_ms if end >= killed_ns]
    if len(after) < 5:
        raise Cannot(f"{len(after)} steps after the kill")
    return max(after[:5]) - stats.median([took for took, _ in steps_ms])


def _frozen(rig, shape, way, mps):
    """Measures a known-bad case, a neighbour that is stopped. Returns 1 where this is noticed, else 0."""
    with crew.Crew(rig, (shape, shape), way, (gradient_bytes(rig) / 0.010, 1), mps=mps) as both:
        await_ready(both)
        for job in both.jobs:
            job.say("go")
        time.sleep(0.3)
        both.jobs[0].kill()
        os.kill(both.jobs[1].process.pid, signal.SIGSTOP)
        try:
            both.jobs[1].say("stop")
            both.jobs[1].hear(1.0)
            return 0
        except Cannot:
            return 1
        finally:
            both.jobs[1].kill()


SHARED = (Promise("gpu_eta", ETA), Promise("gpu_guard", GUARD, "of one after the other"),
          Promise("gpu_gain_over_best_baseline", GAIN, "x"))
PARTS = (
    Part("jobs", 300, jobs, SHARED),
    Part("solo", 120, solo, (Promise("gpu_solo_overhead", SOLO_OVERHEAD),)),
    Part("kills", 240, kills, (Promise("gpu_kills", NEVER),)),
)

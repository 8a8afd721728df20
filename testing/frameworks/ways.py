"""Runs a pattern in three ways: alone, with the library and no other job, and beside another job that differs from it
by one launch. Tells how the calls of the ways differ, and whether the jobs took turns."""

import contextlib
import dataclasses
import functools
import re
import tempfile

from testing.frameworks import jax_jobs, records, software_gpu as gpu
from testing.frameworks.patterns import Expected, Needs

ALONE, UNDER, BESIDE, MORE = "alone", "under the library", "beside another job", "with one launch more"
_KERNEL_SCALE = 40
_BY_GAPS = "no collectives are seen: turns end where the GPU has nothing to do"


@dataclasses.dataclass(frozen=True)
class Ran:
    """Describes a job that has ended well. `record` has the lines of each rank's record."""

    said: str
    record: dict
    turns: int
    order: records.Order = records.Order.THREADS

    @property
    def peaks(self):
        """Returns the peaks of memory that the ranks have said, by rank."""
        return dict(re.findall(r"(?:^|>:)rank (\d+) done, peak (\d+) bytes$", self.said, re.MULTILINE))

    @property
    def reasons(self):
        """Returns why the job takes no turns, as the user is told."""
        return sorted(set(re.findall("takes no turns: (.*)", self.said)))

    def without_one(self):
        """Returns what is left out, and the same without it: one wait or one launch of rank 0."""
        what, lines = records.without_one(self.record[0], self.order)
        return what, dataclasses.replace(self, record={**self.record, 0: lines})

    def did(self, pattern):
        """Returns whether the job did what its row expects."""
        if self.reasons != ([pattern.reason] if pattern.reason else []):
            return False
        by_gaps = _BY_GAPS in self.said
        return {Expected.TURNS: self.turns >= pattern.least_turns and not by_gaps,
                Expected.GAPS: self.turns >= pattern.least_turns and by_gaps,
                Expected.WATCHED: self.turns <= pattern.most_turns,
                Expected.STOPS: True, Expected.VARIES: True}[pattern.expected]

    def calls(self, rank):
        """Returns the launches and waits of a rank."""
        return records.calls(self.record[rank], self.order)


def run(pattern, build=gpu.BUILT, runner=None):
    """Runs a pattern in all ways, its jobs under `runner` (default: that of what they import). Returns {way: Ran}. A
    job that does not end well, or whose calls are refused, is an AssertionError."""
    if runner is None:
        runner = jax_jobs.processes if pattern.needs == Needs.JAX else \
            functools.partial(gpu.torchrun, python=gpu.PYTHONS[pattern.needs])
    with contextlib.ExitStack() as stack:
        bare, single, shared = (_machine(stack, build) for _ in range(3))
        single.start_arbiter()
        began = {ALONE: (bare, "alone", _start(bare, "alone", pattern, runner, library=False)),
                 UNDER: (single, "under", _start(single, "under", pattern, runner))}
        ran = {way: _finish(pattern, *job) for way, job in began.items()}
        shared.start_arbiter()
        more = ("--one-more-at", pattern.steps // 2)
        began = {BESIDE: (shared, "a", _start(shared, "a", pattern, runner)),
                 MORE: (shared, "b", _start(shared, "b", pattern, runner, *more))}
        return ran | {way: _finish(pattern, *job) for way, job in began.items()}


def differing(job, alone):
    """Returns in words where the calls of a job differ first from those of the job alone, for each rank where they
    do."""
    return [f"rank {rank}: {_first(job.calls(rank), alone.calls(rank))}" for rank in alone.record
            if job.calls(rank) != alone.calls(rank)]


def differences(pattern, ran):
    """Returns in words how the calls and the memory of the ways differ, [] where they are the same. They include a
    launch more that is not seen in the job that has it."""
    alone, found = ran[ALONE], []
    for way in (UNDER, BESIDE):
        found += [f"{way}: {difference}" for difference in differing(ran[way], alone)]
        if not pattern.memory_varies and ran[way].peaks != alone.peaks:
            found.append(f"{way}: expected peaks of {alone.peaks}, got {ran[way].peaks}")
    for rank in pattern.ranks:
        calls, more = (records.count(ran[way].calls(rank)) for way in (ALONE, MORE))
        if calls < pattern.least_launches * pattern.steps:
            found.append(f"rank {rank}: expected {pattern.least_launches * pattern.steps} calls or more, got {calls}")
        if more != calls + 1:
            found.append(f"rank {rank}: expected {calls + 1} calls {MORE}, got {more}")
    return found


def surprises(pattern, ran):
    """Returns in words which jobs of the pair did not do what the row says, [] where both did."""
    return [f"{way}: expected that it {pattern.expected.value}, '{pattern.reason}', got {ran[way].turns} turns, "
            f"{ran[way].reasons}" for way in (BESIDE, MORE) if not ran[way].did(pattern)]


def _first(threads, expected):
    """Returns where calls differ first from those that are expected."""
    if len(threads) != len(expected):
        return f"expected calls of {len(expected)} threads, got {len(threads)}"
    for thread, (got, wanted) in enumerate(zip(threads, expected)):
        for index, (call, other) in enumerate(zip(got, wanted)):
            if call != other:
                return f"call {index} of thread {thread}: expected '{other}', got '{call}'"
        if len(got) != len(wanted):
            return f"thread {thread}: expected {len(wanted)} calls, got {len(got)}"
    return "no difference"


def _machine(stack, build):
    directory = stack.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm"))
    return stack.enter_context(gpu.Machine(directory, kernel_scale=_KERNEL_SCALE, build=build))


def _start(machine, job, pattern, runner, *options, library=True):
    environment = pattern.environment + (jax_jobs.ENVIRONMENT if pattern.needs == Needs.JAX else ())
    return machine.start(job, pattern.script, *pattern.arguments, "--steps", pattern.steps, *options, library=library,
                         launcher=pattern.launcher, environment=environment,
                         settings=(("CROSSOVER_TURNS_AT_WAITS", "1"),) if pattern.at_waits else (),
                         runner=runner)


def _finish(pattern, machine, job, process):
    said = machine.finish(job, process)
    ran = Ran(said, {rank: records.of(machine.record(job, rank)) for rank in pattern.ranks}, machine.turns()[job],
              pattern.order)
    if len(ran.peaks) != len(pattern.ranks) or re.search(r"(?m)(?:^|>:)simgpu .* refused ", said):
        raise AssertionError(f"{job}: expected {len(pattern.ranks)} ranks that end well, and no call that is refused: "
                             f"{said}")
    return ran

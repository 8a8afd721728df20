"""Computes the numbers of a table from logs: step alone, cycle shared, gain, eta. Pure."""

from dataclasses import dataclass

from testing import bounds, logs, stats
from testing.machine import COLLECTIVE_CTAS, SMS


@dataclass(frozen=True)
class Solo:
    """A job that ran alone, without the library."""

    step_ms: float
    compute_ms: float

    @property
    def exposed_ms(self):
        """m of the bounds. A step cannot be shorter than its compute."""
        return max(0.0, self.step_ms - self.compute_ms)


@dataclass(frozen=True)
class Shared:
    """Jobs that ran together, measured over the time in which all of them ran."""

    cycles_ms: tuple
    gain: float
    eta: float
    bound_ms: float
    losses_identical: bool

    @property
    def cycle_ms(self):
        return stats.mean(self.cycles_ms)


def solo_of(job_log, warm_up):
    return Solo(job_log.step_ms(warm_up), job_log.compute_ms(warm_up))


def shared_bound(shapes, machine):
    """Returns T* of jobs of equal length on a machine; searches it if a job has several turns."""
    ctas = machine.nccl_ctas if machine else COLLECTIVE_CTAS
    if len(shapes) == 2 and any(len(s.segments) > 1 for s in shapes):
        return bounds.best_cycle(shapes, ctas, SMS, machine.link_sharing)
    return bounds.cycle_bound(shapes, ctas, SMS, machine.link_sharing if machine else "shared")


def shared_of(job_logs, solos, bound_ms, warm_up, alone_digests=None):
    """Returns what the jobs reached together. The gain over back-to-back runs counts each job's own progress, so
    unequal slowdowns are rated fairly. For equal cycles it is sum(c + m) / cycle, and eta is T* / cycle."""
    return shared_within(job_logs, solos, bound_ms, logs.shared_window(job_logs, warm_up), alone_digests)


def shared_within(job_logs, solos, bound_ms, window, alone_digests=None):
    """Does the same for a window (begin, end) in ns."""
    begin, end = window
    cycles = tuple(j.cycle_ms_within(begin, end) for j in job_logs)
    gain = sum(solo.step_ms / cycle for solo, cycle in zip(solos, cycles))
    best = sum(solo.step_ms for solo in solos) / bound_ms
    same = alone_digests is not None and [j.digest for j in job_logs] == list(alone_digests)
    return Shared(cycles, gain, gain / best, bound_ms, same)

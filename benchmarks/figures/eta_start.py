"""eta_start: from any start, iterations 20 to 60 against first come, first served without hand-over costs.

A start is made by pausing both jobs of a running pair and letting them go again, the second after an offset. The
yardstick plays the compute times of that very stretch. The worst start counts. Control: release after the collective.
"""

import time
from dataclasses import replace
from pathlib import Path

from benchmarks import pairs, reference
from benchmarks.results import Goal, Measured, controlled

_GOALS = {0.6: Goal(">=", 0.97), 1.0: Goal(">=", 0.95)}
_BY_CASE = {f"{ranks}ranks_{ratio:g}": pairs.Shape(ratio, ranks=ranks, jitter=0.05)
            for ranks in (4, 8) for ratio in (0.6, 1.0)}
CASES = tuple(_BY_CASE)
OFFSETS, SAME_INSTANT = 50, 10
_FIRST, _LAST = 20, 60
_STARTS_PER_SESSION = 15
_LEARNED = 60
# Iterations that a start is given: what is looked at, and a margin for a slow cycle.
_PER_START = 75


def measure(context, case):
    shape = _BY_CASE[case]
    goal = _GOALS[shape.ratio]
    longest = 2 * (1 + shape.ratio) * shape.compute_ms / 1e3
    starts = [0.0] * SAME_INSTANT + pairs.offsets(OFFSETS, longest)
    alone = pairs.solo(context, replace(shape, jitter=0.0))
    etas = _sessions(context, shape, context.build.library, starts, alone[0]) if alone else []
    bad = context.build.known_bad("late_release")
    control = _sessions(context, shape, bad, starts[5:15], alone[0]) if alone and bad.exists() else []
    complete = len(etas) == len(starts)
    yield Measured("eta_start", case, min(etas) if complete else None, "1, worst start", goal, tuple(etas),
                   controlled(goal, "release after the collective", min(control, default=None)),
                   f"{len(starts)} starts; {shape.scope()}")


def _sessions(context, shape, library, starts, alone):
    etas = []
    for begin in range(0, len(starts), _STARTS_PER_SESSION):
        part = starts[begin:begin + _STARTS_PER_SESSION]
        found = _session(context, shape, library, part, alone)
        context.say(f"    {len(etas) + len(found)} of {len(starts)} starts, worst {min(found, default=0):.4f}")
        etas += found
        if len(found) < len(part):
            break
    return etas


def _session(context, shape, library, starts, alone):
    """eta of each start, all in one pair of jobs."""
    released = []

    def during(session):
        session.wait_for_iterations(_LEARNED)
        for offset in starts:
            released.append(_restart(session.directory, offset))
            time.sleep(_PER_START * 0.9 * max(2 * alone.compute_ms, alone.step_ms) / 1e3)

    iterations = (len(starts) + 1) * _PER_START + 2 * _LEARNED
    longer = replace(shape, iterations=iterations)
    both = pairs.together(context, longer, library, during=during, extra=("--pause-file={session}/pause-{job}",),
                          deadline_s=30 + iterations * 0.1)
    return [eta_of_start(list(both.jobs.values()), t, alone.exposed_ms) for t in released] if both else []


def _restart(directory, offset_s):
    """Pause both jobs, let what is enqueued run out, and let them go. When the first one went, in ns."""
    files = [Path(directory) / f"pause-{name}" for name in ("alpha", "beta")]
    for file in files:
        file.touch()
    time.sleep(0.4)
    files[0].unlink()
    now = time.monotonic_ns()
    time.sleep(offset_s)
    files[1].unlink()
    return now


def eta_of_start(jobs, released_ns, exposed_ms):
    """The yardstick's mean cycle over the measured one, iterations 20 to 60 after a start."""
    firsts = [next(k for k, i in enumerate(job.ranks[0].iterations) if i.begin_ns >= released_ns) for job in jobs]
    computes = [[[i.compute_ns / 1e6 for i in rank.iterations[first:first + _LAST]] for rank in job.ranks]
                for job, first in zip(jobs, firsts)]
    best = reference.cycle(computes, [exposed_ms] * len(jobs), _FIRST, _LAST)
    measured = [(job.ranks[0].iterations[first + _LAST - 1].end_ns - job.ranks[0].iterations[first + _FIRST - 1].end_ns)
                / 1e6 / (_LAST - _FIRST) for job, first in zip(jobs, firsts)]
    return best / (sum(measured) / len(measured))

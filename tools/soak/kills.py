"""Rounds of faults: two jobs take turns, something is done to one of them, and the other must not notice.

What is checked: both jobs took turns before, the survivors end, and with the losses that they have alone.
"""

import random
import signal
import time
from functools import cache

from benchmarks import pairs, session
from benchmarks.processes import Failed

_SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=80)
_MARK = "crossover-soak"
FAULTS = ("kill one rank", "kill all ranks", "stop one rank for a while", "kill an arbiter")


def rounds(build, seeds):
    """What went wrong in the first bad round, or nothing."""
    for seed in seeds:
        fault = FAULTS[seed % len(FAULTS)]
        wrong = _round(build, fault, random.Random(seed))
        if wrong:
            return f"seed {seed}, {fault}: {wrong}"
    return ""


def _round(build, fault, draw):
    whole = fault in ("stop one rank for a while", "kill an arbiter")
    plan = session.Plan(_SHAPE.machine(), (_SHAPE.job("alpha", 1), _SHAPE.job("beta", 2)), build.library,
                        expendable=("arbiters",) if whole else ("arbiters", "beta"),
                        during=lambda running: _strike(running, fault, draw))
    try:
        result = session.run(build, plan, _MARK)
    except Failed as failure:
        return str(failure)
    idle = [name for name in ("alpha", "beta") if sum(e.event == "hold" and e.gang == name for e in result.trace) < 10]
    if idle:
        return f"{' and '.join(idle)} took no turns"
    wrong = [name for name, log in result.jobs.items() if log.digest != _digest_alone(build, name)]
    return f"the losses of {' and '.join(wrong)} are not those that it has alone" if wrong else ""


def _strike(running, fault, draw):
    running.wait_for_iterations(draw.choice((8, 16, 24)))
    time.sleep(draw.uniform(0.0, 0.06))  # about two cycles: anywhere in a turn, or between two
    ranks = range(running.machine.ranks)
    job = running.plan.jobs[1]
    if fault == "kill an arbiter":
        running.processes.signal(f"arbiter{draw.randrange(running.machine.nodes)}", signal.SIGKILL)
    elif fault == "stop one rank for a while":
        name = running.rank_name(job, draw.choice(ranks))
        running.processes.signal(name, signal.SIGSTOP)
        time.sleep(draw.uniform(0.01, 1.5))
        running.processes.signal(name, signal.SIGCONT)
    else:
        for rank in [draw.choice(ranks)] if fault == "kill one rank" else ranks:
            running.processes.signal(running.rank_name(job, rank), signal.SIGKILL)


@cache
def _digest_alone(build, name):
    job = _SHAPE.job(name, {"alpha": 1, "beta": 2}[name])
    return session.run(build, session.Plan(_SHAPE.machine(), (job,)), _MARK).job(name).digest

"""cpu_cost is the processor time that turns cost a GPU with two jobs, as a share of one core. It adds the daemon's
time, the time of the library's own threads, and the launches' share at the price of `hook_ns`. cpu_cost_beside is the
same for shorter iterations, which take more turns.

Control, against the shipped library, both without the guard: a library whose threads look 10,000 times a second.
"""

import contextlib
import json
import time
from pathlib import Path

from benchmarks.runner.results import Goal, Measured
from testing import pairs

GOAL = Goal("<=", 0.02, "median", runs=5)
_BY_CASE = {"plain_0.6": pairs.Shape(0.6, iterations=150, warm_up=30),
            "c5_0.6": pairs.Shape(0.6, compute_ms=5.0, ranks=2, iterations=600, warm_up=120),
            "c2_0.6": pairs.Shape(0.6, compute_ms=2.0, ranks=2, iterations=1500, warm_up=300)}
CASES = tuple(_BY_CASE)
_THREAD = "crossover"  # the name that the library gives its threads
_WATCHED_S = 3.0
_HOOK_NS = 8  # upper bound of `hook_ns` where turns are taken
_RESTLESS = "restless_arbiter_thread"


def measure(context, case):
    shape = _BY_CASE[case]
    runs = []

    def one(library, kept):
        run = context.has(library) and _one(context, shape, library)
        kept.append(run)
        return run["cost"] if run else None

    beside = case != "plain_0.6"
    goal = Goal("<=", None, "median") if beside else GOAL
    value, costs = pairs.measured_by(context, goal, lambda: one(context.build.library, runs))
    control = None
    if value is not None and not beside:
        control = context.controlled(GOAL, "threads that look 10,000 times a second", _RESTLESS,
                                     lambda library: one(library, []))
    yield Measured("cpu_cost_beside" if beside else "cpu_cost", case, value, "of a core per GPU", goal, costs, control,
                   shape.condition(), {"runs": runs}, shape.conditions())


def _one(context, shape, library):
    seen = {}

    def watch(running):
        running.wait_for_iterations(shape.warm_up)
        before = _times(running)
        began = time.monotonic()
        time.sleep(_WATCHED_S)
        after = _times(running)
        seconds = time.monotonic() - began
        seen.update({name: (after[name] - before[name]) / 1e9 / seconds / shape.ranks for name in before})

    result = pairs.together(context, shape, library, during=watch)
    if result is None:
        return None
    launches = sum(job.ranks[0].summary["kernels_per_iteration"] / (job.step_ms(shape.warm_up) / 1e3)
                   for job in result.jobs.values())
    seen["launches"] = launches * _HOOK_NS / 1e9
    seen["cost"] = sum(seen.values())
    context.say(f"    {json.dumps(seen)}")
    return seen


def _times(running):
    """Returns the processor time so far in ns, of the daemons and of the library's threads in all ranks."""
    daemons = [pid for node in range(running.machine.nodes) for pid in running.processes.family(f"arbiter{node}")]
    ranks = [pid for job in running.plan.jobs for rank in range(running.machine.ranks)
             for pid in running.processes.family(running.rank_name(job, rank))]
    return {"daemon": _on_processor(daemons, lambda name: True),
            "library": _on_processor(ranks, lambda name: name == _THREAD)}


def _on_processor(pids, wanted):
    total = 0
    for task in (task for pid in pids for task in Path(f"/proc/{pid}/task").glob("*")):
        with contextlib.suppress(OSError):
            if wanted((task / "comm").read_text(encoding="utf-8").strip()):
                total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return total

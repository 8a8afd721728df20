"""solo_overhead is what a job alone pays for the library.

c20: a GPU that computes for 20 ms hides the cost of its some 65 launches. Control: phases told apart by clocks, with a
host wait at each collective. A wrapper with a mutex and a getpid is shown beside it: this case cannot detect that one.

launch_bound: a step makes some 1460 launches of 2 us, which is about what a driver takes at least, for 1 ms of compute.
The step is the host's time, and the cost of a launch counts in full. Control: that wrapper, which must miss.

Such a job keeps all cores busy by itself, so the rule that voids runs on busy machines does not apply to it. It is void
where the hypervisor took more of the cores than on a quiet machine.

One sample is of four runs, without, with, with, without the library, so that a machine that becomes slower or faster
meanwhile does not count for one of them.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, session, stats, validity

GOAL, LAUNCH_BOUND_GOAL = Goal("<=", 0.001, "median", runs=5), Goal("<=", 0.01, "median", runs=5)
_SHAPE = pairs.Shape(0.6, iterations=150)
_LAUNCH_BOUND = pairs.Shape(0.6, compute_ms=1.0, ranks=2, launch_us=2, iterations=300, warm_up=60,
                            extra=("--accumulation=32", "--batch=1"))
TIMED_PHASES = ("timed_phases", "the host waits for the GPU at each collective")
_SLOW = "every hook takes a mutex and calls getpid"
CASES = ("c20", "launch_bound", "beside_slow_hooks")


def measure(context, case):
    if case == "c20":
        yield measured(context, "solo_overhead", case, _SHAPE, GOAL, TIMED_PHASES, _SHAPE.condition())
    elif case == "launch_bound":
        yield measured(context, "solo_overhead", case, _LAUNCH_BOUND, LAUNCH_BOUND_GOAL, ("slow_hooks", _SLOW),
                       f"{_LAUNCH_BOUND.condition()}, some 1460 launches of {_LAUNCH_BOUND.launch_us} us in a step")
    else:
        value, samples = pairs.measured_by(context, Goal(), lambda: _overhead(
            context, _SHAPE, context.build.known_bad("slow_hooks")))
        yield Measured("solo_overhead_beside", "slow_hooks", value, "1", Goal(), samples, None,
                       f"{_SLOW}; one job alone; {_SHAPE.condition()}", {}, _SHAPE.conditions(jobs=1))


def measured(context, figure, case, shape, goal, bad, condition):
    """Returns the line of a case. `bad` is (name, what it does) of a library that has to miss the goal."""
    known_bad, what = bad
    value, samples = pairs.measured_by(context, goal, lambda: _overhead(context, shape, context.build.library))
    control = controlled(goal, what, _overhead(context, shape, context.build.known_bad(known_bad)))
    return Measured(figure, case, value, "1", goal, samples, control, f"one job alone; {condition}", {},
                    shape.conditions(jobs=1, launch_us=shape.launch_us))


def _overhead(context, shape, library):
    """Returns (step with the library) / (without) - 1, medians over iterations, or None where a run was void or
    failed."""
    if not context.has(library):
        return None
    steps = {None: [], library: []}
    for loaded in (None, library, library, None):
        log = _alone(context, shape, loaded)
        if not log:
            return None
        steps[loaded].append(_median_step(log, shape))
    return stats.mean(steps[library]) / stats.mean(steps[None]) - 1


def _alone(context, shape, library):
    """Returns the JobLog of a job alone, or None where the run was void or failed."""
    if shape is not _LAUNCH_BOUND:
        alone = pairs.solo(context, shape, library)
        return alone and alone[1]
    validity.wait_until_quiet()
    plan = session.Plan(shape.machine(), (shape.job("alpha", 1),), library, isolated=context.isolated)
    result = context.session(plan, timed=False)
    if result and result.load.stolen > validity.QUIET_STOLEN:
        why = f"{result.load.stolen:.1%} of all cores stolen, expected {validity.QUIET_STOLEN:.1%} at most"
        context.voids.append({"run": "alone", "library": library and library.name, "why": why})
        return None
    return result and result.job("alpha")


def _median_step(log, shape):
    return stats.median([i.end_ns - i.begin_ns for r in log.ranks for i in r.iterations[shape.warm_up:]])

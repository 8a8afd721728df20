"""eta is how much of the bound's gain two equal jobs reach with GPU gates, from the first turns on to the end, whatever
the guard tries meanwhile. eta_whole_beside counts all of the run, with the iterations that the library learns from,
during which the jobs run freely. These are always as many, so that value depends on how long the run is.

Controls, each against the shipped library, all without the guard: release after the collective; turns that are given
back 0.5 ms and 1 ms late, which is little.
"""

from dataclasses import replace

from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns import shapes
from testing import evaluate, pairs, stats
from testing.commands import GRADIENT_BYTES

_RATIOS = (0.2, 0.6, 1.0)
_VARIANTS = ("plain", "broadcast_buffers", "loss_allreduce")
GOAL = Goal(">=", 0.99, "median", least=0.96, runs=5)
_GOAL_VARIANTS = Goal(">=", 0.98, "median", least=0.96, runs=5)
_GOAL_SHORT = Goal(">=", 0.985, "median", least=0.96, runs=5)
CONTROL = "late_release"
LATE_BY, _LATE_US = "late_by", (500, 1000)


def _cases():
    for variant in _VARIANTS:
        for ratio in _RATIOS:
            goal = GOAL if variant == "plain" else _GOAL_VARIANTS
            yield f"{variant}_{ratio:g}", (pairs.Shape(ratio, variant, iterations=200, alone=90), goal)
    for ratio in _RATIOS:
        yield f"c5_{ratio:g}", (pairs.Shape(ratio, compute_ms=5.0, ranks=2, iterations=800, warm_up=80, alone=240),
                                _GOAL_SHORT)
    yield "beside_early_half_0.6", (pairs.Shape(0.6, early_bytes=0.5, iterations=200, alone=90), Goal())


_BY_CASE = dict(_cases())
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape, goal = _BY_CASE[case]
    details, bad, beside = [], [], goal.limit is None
    value, samples = pairs.measured_by(context, goal, lambda: one(context, shape, context.build.library, details))
    if not beside and value is not None:
        bad = _controls(context, shape, goal)
    yield Measured("eta_beside" if beside else "eta", case, value, "1", goal, samples, tuple(bad) or None,
                   shape.condition(), {"runs": details}, shape.conditions())
    whole = tuple(run["eta_whole"] for run in details)
    yield Measured("eta_whole_beside", case, stats.median(whole) if whole else None, "1", Goal(), whole, None,
                   f"{shape.condition()}, {shape.iterations} iterations", {}, shape.conditions(counted_from=0))


def _controls(context, shape, goal):
    """Yields the controls. Jobs with one turn in an iteration get all of them, other jobs get only the coarse one."""
    alone = alone_of(context, shape)
    with context.without_guard():
        def eta_of(library, **settings):
            return one(context, shape, library, [], settings, alone)

        shipped = eta_of(context.build.library)
        yield controlled(goal, "release after the collective", eta_of(context.build.known_bad(CONTROL)), shipped)
        for late_us in () if shapes.has_small_collective(shape.variant) else _LATE_US:
            late = eta_of(context.build.known_bad(LATE_BY), CROSSOVER_TEST_LATE_US=str(late_us))
            yield controlled(goal, f"each turn is given back {late_us / 1e3:g} ms late", late, shipped)


def one(context, shape, library, details, environment=None, alone=None):
    """Runs a job alone, unless `alone` gives its result, then all jobs together. Returns eta of the shared run, or None
    where a run was void or failed."""
    if not context.has(library):
        return None
    alone = alone or alone_of(context, shape)
    both = alone and pairs.together(context, shape, library, environment=environment)
    if not both:
        return None
    solo, job = alone
    shared = pairs.rate(shape, both, solo, evaluate.shared_bound([job] * shape.jobs, shape.machine()))
    details.append({"eta_whole": pairs.rate(shape, both, solo, shared.bound_ms, whole=True).eta,
                    "step_ms": solo.step_ms, "c_ms": solo.compute_ms, "bound_ms": shared.bound_ms,
                    "small_ms": job.segments[0].exposed if len(job.segments) > 1 else 0.0,
                    "plain_bound_ms": _plain_bound_ms(shape, job), "cycle_ms": shared.cycle_ms,
                    "gain": shared.gain, **_turns(both.trace, shared.cycle_ms),
                    "load": both.load.as_dict()})
    return pairs.of_bound(context, shared.eta)


def _turns(trace, cycle_ms):
    """Returns how many turns were taken, and how often a GPU had no turn for two and a half cycles. The guard causes
    such a pause when it looks at another way."""
    holds, pauses = {}, 0
    for event in trace:
        if event.event == "hold":
            pauses += event.t_ns - holds.get(event.gpu, event.t_ns) > 2.5e6 * cycle_ms
            holds[event.gpu] = event.t_ns
    return {"turns": sum(event.event == "hold" for event in trace), "pauses": pauses}


def alone_of(context, shape):
    """Returns (evaluate.Solo, bounds.Job) of a job alone, or None where a run was void."""
    alone = pairs.solo(context, shape)
    plain = alone
    if alone and shapes.has_small_collective(shape.variant):
        plain = pairs.solo(context, replace(shape, variant="plain"))
    if not plain:
        return None
    return alone[0], shapes.job_shape(shape.variant, alone[0], plain[0], GRADIENT_BYTES, shape.ranks,
                                      shape.machine().node_link_bytes_per_s)


def _plain_bound_ms(shape, job):
    """Returns T* as it is if collectives hold no multiprocessors."""
    return evaluate.shared_bound([job] * shape.jobs, replace(shape.machine(), nccl_ctas=0))

"""eta_idle is eta of two equal jobs whose input stalls for 15 ms at the start of each iteration. eta_idle_one_rank has
one rank of each job stall: it is the cycle with the turn given away over the cycle without.

A stall is off the GPU as communication is: it belongs to m of the bound. Both count from the first turns on. Control of
eta_idle, against the shipped library, both without the guard: release after the collective. eta_idle_one_rank compares
the shipped library with a library that keeps a turn in which nothing runs, both without the guard.
"""

from benchmarks.runner.results import Goal, Measured
from benchmarks.turns import eta
from testing import bounds, evaluate, pairs

GOAL = Goal(">=", 0.93, "median", runs=5)
_GOAL_ONE_RANK = Goal("<=", 1.02, "worst", runs=5)
CASES = ("all_ranks", "one_rank")
_KEEPS_IDLE_TURNS = "keeps_idle_turns"
_STALL_MS = 15


def measure(context, case):
    one_rank = case == "one_rank"
    shape = pairs.Shape(0.6, iterations=150, alone=110, warm_up=40,
                        extra=(f"--stall-ms={_STALL_MS}", f"--stall-rank={0 if one_rank else -1}"))
    yield _one_rank(context, shape) if one_rank else _all_ranks(context, shape)


def _all_ranks(context, shape):
    details, bound = [], None
    alone = pairs.solo(context, shape)
    if alone:
        # The link is in use while the job communicates, not during the stall.
        job = bounds.one_turn(alone[0].compute_ms, alone[0].exposed_ms, shape.ratio * shape.compute_ms)
        bound = evaluate.shared_bound([job] * 2, shape.machine())

    def one(library):
        cycle = bound and _cycle(context, library, shape, details)
        return pairs.of_bound(context, bound / cycle) if cycle else None

    value, samples = pairs.measured_by(context, GOAL, lambda: one(context.build.library))
    control, kept = None, None
    if value is not None:
        control = context.controlled(GOAL, "release after the collective", eta.CONTROL, one)
        with context.without_guard():
            kept = one(context.build.known_bad(_KEEPS_IDLE_TURNS))
    return Measured("eta_idle", "all_ranks", value, "1", GOAL, samples, control, _words(shape),
                    {"runs": details, "bound_ms": bound, "alone_ms": alone and alone[0].step_ms, "eta_without": kept},
                    shape.conditions(stall_ms=_STALL_MS))


def _one_rank(context, shape):
    details = []

    def one():
        with context.without_guard():
            kept = _cycle(context, context.build.known_bad(_KEEPS_IDLE_TURNS), shape, [])
            cycle = kept and _cycle(context, context.build.library, shape, details)
        return cycle / kept if cycle else None

    value, samples = pairs.measured_by(context, _GOAL_ONE_RANK, one)
    return Measured("eta_idle_one_rank", "one_rank", value, "of the cycle without", _GOAL_ONE_RANK, samples, None,
                    _words(shape), {"runs": details}, shape.conditions(stall_ms=_STALL_MS, stall_rank=0))


def _words(shape):
    return f"{shape.condition()}, a stall of {_STALL_MS} ms"


def _cycle(context, library, shape, details):
    if not context.has(library):
        return None
    result = pairs.together(context, shape, library)
    if result is None:
        return None
    shared = pairs.rate(shape, result, evaluate.Solo(1, 1), 1)
    details.append({"cycles_ms": shared.cycles_ms})
    context.say(f"    cycle {shared.cycle_ms:.2f} ms")
    return shared.cycle_ms

"""eta_idle: eta of two equal jobs whose input stalls for 15 ms at the start of each iteration; eta_idle_one_rank: where
only one rank of each stalls, cycle with the turn given away over the cycle without.

A stall is off the GPU as communication is: it belongs to m of the bound. Control: release after the collective.
"""

from benchmarks import bounds, evaluate, pairs, stats
from benchmarks.figures import eta
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal(">=", 0.93)
_GOAL_ONE_RANK = Goal("<=", 1.02)
CASES = ("all_ranks", "one_rank")
_KEEPS_IDLE_TURNS = "keeps_idle_turns"


def measure(context, case):
    one_rank = case == "one_rank"
    shape = pairs.Shape(0.6, iterations=110, warm_up=40,
                        extra=("--stall-ms=15", f"--stall-rank={0 if one_rank else -1}"))
    shown = f"{shape.condition()}, a stall of 15 ms"
    alone = pairs.solo(context, shape)
    solo = alone and alone[0]
    details = []
    cycles = [solo and _cycle(context, context.build.library, shape, details) for _ in range(context.runs)]
    kept = solo and _cycle(context, context.build.known_bad(_KEEPS_IDLE_TURNS), shape, [])
    late = solo and (one_rank or _cycle(context, context.build.known_bad(eta.CONTROL), shape, []))
    if None in (solo, kept, late, *cycles):
        yield Measured("eta_idle", case, None, "1", GOAL, ())
        return
    if one_rank:
        ratios = tuple(cycle / kept for cycle in cycles)
        yield Measured("eta_idle_one_rank", case, stats.median(ratios), "of the cycle without", _GOAL_ONE_RANK, ratios,
                       None, shown, {"runs": details, "cycle_without_ms": kept})
        return
    # The link is in use for what communicates, not for the stall.
    job = bounds.one_turn(solo.compute_ms, solo.exposed_ms, shape.ratio * shape.compute_ms)
    bound = evaluate.shared_bound([job] * 2, shape.machine())
    values = tuple(bound / cycle for cycle in cycles)
    yield Measured("eta_idle", case, stats.median(values), "1", GOAL, values,
                   controlled(GOAL, "release after the collective", bound / late), shown,
                   {"runs": details, "bound_ms": bound, "alone_ms": solo.step_ms, "eta_without": bound / kept})


def _cycle(context, library, shape, details):
    if not library.exists():
        context.voids.append(f"{library.name} is not built")
        return None
    result = pairs.together(context, shape, library)
    if result is None:
        return None
    shared = pairs.rate(shape, result, evaluate.Solo(1, 1), 1)
    details.append({"cycles_ms": shared.cycles_ms})
    context.say(f"    cycle {shared.cycle_ms:.2f} ms")
    return shared.cycle_ms

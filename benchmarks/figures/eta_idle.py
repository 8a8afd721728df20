"""eta_idle: eta of two equal jobs whose input stalls for 15 ms at the start of each iteration; eta_idle_one_rank: where
only one rank of each stalls, cycle with the turn given away over the cycle without.

A stall is off the GPU as communication is: it belongs to m of the bound. Control: release after the collective.
"""

from benchmarks import bounds, evaluate, session, stats
from benchmarks.commands import GRADIENT_BYTES, Job
from benchmarks.figures import eta
from benchmarks.machine import Machine, link_speed_for
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal(">=", 0.93)
_GOAL_ONE_RANK = Goal("<=", 1.02)
CASES = ("all_ranks", "one_rank")
_COMPUTE_MS, _COMMUNICATE_MS, _STALL_MS, _RANKS = 20.0, 12.0, 15, 4
_ITERATIONS, _WARM_UP = 110, 40
_KEEPS_IDLE_TURNS = "keeps_idle_turns"


def measure(context, case):
    one_rank = case == "one_rank"
    shown = f"2 equal jobs of {_RANKS} ranks on 2 nodes, c = 20 ms, m = 12 ms, a stall of 15 ms, mps, links shared"
    solo = _solo(context, one_rank)
    details = []
    cycles = [solo and _cycle(context, context.build.library, one_rank, details) for _ in range(context.runs)]
    kept = solo and _cycle(context, context.build.known_bad(_KEEPS_IDLE_TURNS), one_rank, [])
    late = solo and (one_rank or _cycle(context, context.build.known_bad(eta.CONTROL), one_rank, []))
    if None in (solo, kept, late, *cycles):
        yield Measured("eta_idle", case, None, "1", GOAL, ())
        return
    if one_rank:
        ratios = tuple(cycle / kept for cycle in cycles)
        yield Measured("eta_idle_one_rank", case, stats.median(ratios), "of the cycle without", _GOAL_ONE_RANK, ratios,
                       None, shown, {"runs": details, "cycle_without_ms": kept})
        return
    bound = evaluate.shared_bound([_shape(solo)] * 2, _machine())
    values = tuple(bound / cycle for cycle in cycles)
    yield Measured("eta_idle", case, stats.median(values), "1", GOAL, values,
                   controlled(GOAL, "release after the collective", bound / late), shown,
                   {"runs": details, "bound_ms": bound, "alone_ms": solo.step_ms, "eta_without": bound / kept})


def _machine():
    speed = link_speed_for(_COMMUNICATE_MS / 1e3, GRADIENT_BYTES, _RANKS)
    return Machine(nodes=2, gpus_per_node=_RANKS // 2, mode="mps", node_link_bytes_per_s=speed)


def _jobs(one_rank):
    stall = (f"--stall-ms={_STALL_MS}", f"--stall-rank={0 if one_rank else -1}")
    return tuple(Job(name, seed, _COMPUTE_MS, _ITERATIONS, extra=stall)
                 for seed, name in enumerate(("alpha", "beta"), 1))


def _shape(solo):
    # The link is in use for what communicates, not for the stall.
    return bounds.one_turn(solo.compute_ms, solo.exposed_ms, _COMMUNICATE_MS)


def _solo(context, one_rank):
    result = context.session(session.Plan(_machine(), _jobs(one_rank)[:1], isolated=context.isolated))
    return result and evaluate.solo_of(result.job("alpha"), _WARM_UP)


def _cycle(context, library, one_rank, details):
    if not library.exists():
        context.voids.append(f"{library.name} is not built")
        return None
    result = context.session(session.Plan(_machine(), _jobs(one_rank), library, isolated=context.isolated))
    if result is None:
        return None
    shared = evaluate.shared_of(list(result.jobs.values()), [evaluate.Solo(1, 1)] * 2, 1, _WARM_UP)
    details.append({"cycles_ms": shared.cycles_ms})
    context.say(f"    cycle {shared.cycle_ms:.2f} ms")
    return shared.cycle_ms

"""eta_gaps is how much of the bound's gain two jobs reach that wait for communication many times in an iteration, where
their turns end at these waits (CROSSOVER_TURNS_AT_WAITS): the worst of three start offsets, from the first turns on to
the end, whatever the guard tries meanwhile. gain_gaps_over_mps is their work per time over that of the same jobs
running freely, from the same offsets.

The jobs keep their parameters sharded, as in PyTorch's FSDP, with no layer or one gathered ahead. The bound counts the
SMs that collectives hold. It is that of a job which computes once and waits once in each iteration, so no order of
waits beats it; with layers gathered ahead, what a job's own compute hides is not exposed.

Control, without the guard: a turn is given back behind the wait, so that it lasts while its job communicates.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing import bounds, evaluate, pairs
from testing.machine import ring_all_reduce_seconds

_STARTS = 3
GOAL = Goal(">=", 0.93, "worst", runs=_STARTS)
_LEAST_GAIN = {"private": 1.02}
CONTROL = "late_release"
AT_WAITS = (("CROSSOVER_TURNS_AT_WAITS", "1"),)
_RATIO = 0.6
_SHOWN = Goal(judged="worst", runs=_STARTS)


def _shape(prefetch, links):
    return pairs.Shape(_RATIO, "sharded", compute_ms=80.0, iterations=120, warm_up=20, alone=60, links=links,
                       extra=(f"--prefetch={prefetch}",), settings=AT_WAITS)


_BY_CASE = {f"sharded_{prefetch}_{links}": (_shape(prefetch, links), GOAL if prefetch == 0 else _SHOWN)
            for prefetch in (0, 1) for links in ("private", "shared")}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape, goal = _BY_CASE[case]
    alone = pairs.solo(context, shape)
    offsets = iter(pairs.offsets(_STARTS, (1 + shape.ratio) * shape.compute_ms / 1e3))
    found = []

    def one():
        offset = next(offsets)
        eta = alone and _eta(context, shape, context.build.library, alone, offset)
        free = eta and _gain(context, shape, None, alone, offset)
        if not free:
            return None
        found.append(eta["gain"] / free["gain"])
        return pairs.of_bound(context, eta["eta"])

    value, samples = pairs.measured_by(context, goal, one, runs=_STARTS)
    control = None
    if value is not None and goal.limit is not None:
        with context.without_guard():
            bad, shipped = (_eta(context, shape, library, alone, 0.0)
                            for library in (context.build.known_bad(CONTROL), context.build.library))
        control = controlled(goal, "a turn is given back behind the wait", bad and bad["eta"],
                             shipped and shipped["eta"])
    conditions = shape.conditions(offsets_ms=f"0 to {(1 + shape.ratio) * shape.compute_ms:g}")
    yield Measured("eta_gaps", case, value, "1", goal, samples, control, shape.condition(), {}, conditions)
    least = Goal(">=", _LEAST_GAIN[shape.links], "worst", runs=_STARTS) if shape.links in _LEAST_GAIN else _SHOWN
    yield Measured("gain_gaps_over_mps", case, least.of(found) if found else None, "x", least, tuple(found), None,
                   shape.condition(), {}, conditions)


def _eta(context, shape, library, alone, offset):
    return _gain(context, shape, library, alone, offset) if context.has(library) else None


def _gain(context, shape, library, alone, offset):
    """Returns gain and eta of both jobs together, or None where no run was valid."""
    both = pairs.together(context, shape, library, offset)
    if both is None:
        return None
    solo, _ = alone
    link_ms = 1e3 * ring_all_reduce_seconds(shape.payload_bytes(), shape.ranks, shape.machine().node_link_bytes_per_s)
    job = bounds.one_turn(solo.compute_ms, solo.exposed_ms, link_ms)
    shared = pairs.rate(shape, both, solo, evaluate.shared_bound([job] * shape.jobs, shape.machine()))
    turns = sum(event.event == "hold" for event in both.trace)
    context.say(f"      gain {shared.gain:.3f} of {shared.gain / shared.eta:.3f}, cycle {shared.cycle_ms:.1f} ms, "
                f"alone {solo.compute_ms:.1f} + {solo.exposed_ms:.1f} ms, {turns} turns")
    return {"gain": shared.gain, "eta": shared.eta}

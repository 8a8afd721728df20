"""eta_gaps is how much of the bound's gain two jobs reach that wait for communication many times in an iteration, where
their turns end at these waits (CROSSOVER_TURNS_AT_WAITS): the worst of three start offsets, from the first turns on to
the end, whatever the guard tries meanwhile. gain_gaps_over_mps is their work per time over that of the same jobs
running freely, from the same offsets.

The jobs of `sharded` keep their parameters sharded, as in PyTorch's FSDP, with no layer or one gathered ahead. Those of
`experts` are a mixture of experts: four exchanges of all ranks with all in each iteration, of messages of one size, or,
with `varying`, of sizes that depend on the data and that the host reads before. The bound counts the SMs that
collectives hold. It is that of a job which computes once and waits once in each iteration, so no order of waits beats
it; what a job's own compute hides is not exposed.

Control, without the guard: a turn is given back behind the wait, so that it lasts while its job communicates.
"""

from dataclasses import dataclass

from benchmarks.runner.results import Goal, Measured, controlled
from testing import bounds, evaluate, pairs
from testing.machine import ring_all_reduce_seconds

_STARTS = 3
CONTROL = "late_release"
AT_WAITS = (("CROSSOVER_TURNS_AT_WAITS", "1"),)
_RATIO = 0.6
_SHOWN = Goal(judged="worst", runs=_STARTS)
EXPERT_BYTES = 262144  # so that the exchanges take most of the communication


@dataclass(frozen=True)
class _Case:
    """`gain` is held against free-running jobs."""

    shape: pairs.Shape
    eta: Goal
    gain: Goal = _SHOWN


def _least(limit):
    return Goal(">=", limit, "worst", runs=_STARTS)


_ETA = _least(0.93)  # of two such jobs at m/c 0.6


def _shape(variant, extra, links="private", ratio=_RATIO, **others):
    return pairs.Shape(ratio, variant, compute_ms=80.0, iterations=120, warm_up=20, alone=60, links=links, extra=extra,
                       settings=AT_WAITS, **others)


def _sharded(prefetch, links):
    return _shape("sharded", (f"--prefetch={prefetch}",), links)


def _experts(links="private", ratio=_RATIO, routing="fixed"):
    return _shape("experts", (f"--routing={routing}",), links, ratio, gradient_bytes=EXPERT_BYTES)


_BY_CASE = {
    "sharded_0_private": _Case(_sharded(0, "private"), _ETA, _least(1.02)),
    "sharded_0_shared": _Case(_sharded(0, "shared"), _ETA),
    "sharded_1_private": _Case(_sharded(1, "private"), _SHOWN),
    "sharded_1_shared": _Case(_sharded(1, "shared"), _SHOWN),
    "experts_private": _Case(_experts(), _ETA, _least(1.04)),
    "experts_shared": _Case(_experts("shared"), _SHOWN, _least(1.10)),
    "experts_1_private": _Case(_experts(ratio=1.0), _least(0.85)),
    "experts_varying_private": _Case(_experts(routing="varying"), _SHOWN),
}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape, goal, least = _BY_CASE[case].shape, _BY_CASE[case].eta, _BY_CASE[case].gain
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

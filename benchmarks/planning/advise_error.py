"""advise_error is how far the gain that `kubectl crossover advise` predicts is from the gain measured then. Each
sample is one shape of jobs, and the median counts; advise_error_worst is the worst shape.

private  turns, for two equal jobs at m/c 0.3 to 1.5, with links of their own
shared   the same with shared links, at m/c 0.3 to 1.8. From 1 on the link bounds them, so it does in two shapes of four
early    turns on shared links; half of the bytes travel beside compute, so the link is busy for longer than m
place    ranks in the order of nodes in place of every other rank on the same node
balance  parts of the batch by the speed of each rank, for four sets of speeds

advise gets c, m and the bytes of an iteration, of the job alone, and the speed of the link; for place, it gets the
times of the uplinks that the extender computes from what the ranks call. The gain of turns is that over one job after
the other, from the first turns on, whatever the guard tries meanwhile. advise expects 0.98 of the bound of turns, the
median of the figure eta (common/gains/turns.h).

Control, at the median and at worst: the model without its term for links; for private, no gain at all; for balance,
advice that sees one rank's speed in place of all.
"""

import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.planning import advice, mappings
from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, stats
from testing.commands import GRADIENT_BYTES
from testing.machine import ring_all_reduce_seconds

_GOAL, _WORST = Goal("<=", 0.03), Goal("<=", 0.10)
_TURNS = pairs.Shape(0.6, iterations=200, alone=90)
# With shorter iterations these take more than 60% of two cores, at which a run is void.
_EARLY = replace(_TURNS, compute_ms=45.0, early_bytes=0.5, iterations=120)
_RATIOS = (0.3, 0.6, 1.0, 1.5)
_SHARED_RATIOS = (0.3, 0.6, 1.2, 1.8)
_EARLY_RATIOS = (0.6, 1.0, 1.4, 1.8)  # of the link's time for all bytes, over c
_ALONE = pairs.Shape(0.2, iterations=200, warm_up=40, extra=("--batch=24",))
_SPEEDS = ((1, 1, 0.5, 0.25), (1, 1, 1, 0.5), (1, 0.8, 0.8, 0.6), (0.5, 0.5, 1, 1))
_EVERY_OTHER = (0, 2, 1, 3)
_PLACED = (pairs.Shape(0.3, alone=90), pairs.Shape(0.6, alone=90), pairs.Shape(1.0, alone=90),
           pairs.Shape(1.0, compute_ms=30.0, early_bytes=0.5, alone=90))
_SHAPES = {"private": [replace(_TURNS, ratio=ratio, links="private") for ratio in _RATIOS],
           "shared": [replace(_TURNS, ratio=ratio) for ratio in _SHARED_RATIOS],
           "early": [replace(_EARLY, ratio=ratio) for ratio in _EARLY_RATIOS],
           "place": [replace(shape, seats=_EVERY_OTHER) for shape in _PLACED],
           "balance": [replace(_ALONE, extra=(*_ALONE.extra, f"--speeds={','.join(map(str, speeds))}"))
                       for speeds in _SPEEDS]}
CASES = tuple(_SHAPES)


@dataclass(frozen=True)
class _Found:
    """Holds the gain of one shape: as advised, as measured, and as the control advises."""

    predicted: float
    measured: float
    control: float

    def error_of(self, gain):
        return abs(gain / self.measured - 1)


def measure(context, case):
    shapes = _SHAPES[case]
    gain_of = {"balance": _balance, "place": _place}.get(case, _turns)
    found = []
    for shape in shapes:
        found.append(gain_of(context, shape))
        context.say(f"    m/c {shape.ratio:g} {' '.join(shape.extra)}: {found[-1]}")
    conditions = shapes[0].conditions(m_over_c=[shape.ratio for shape in shapes])
    if gain_of is not _turns:
        conditions |= {"jobs": 1, "counted_from": shapes[0].warm_up,
                       "trainer": [" ".join(shape.extra) for shape in shapes]}
    condition = f"{len(shapes)} shapes of {conditions['jobs']} jobs"
    if None in found:
        yield Measured("advise_error", case, None, "of the gain", _GOAL, (), None, condition, {}, conditions)
        return
    errors = tuple(each.error_of(each.predicted) for each in found)
    what = {"balance": "the first rank's speed for all", "private": "no gain"}.get(case, "no term for links")
    wrong = [each.error_of(1.0 if case == "private" else each.control) for each in found]
    yield Measured("advise_error", case, stats.median(errors), "of the gain", _GOAL, errors,
                   controlled(_GOAL, what, stats.median(wrong)), condition,
                   {"shapes": [asdict(each) for each in found]}, conditions)
    yield Measured("advise_error_worst", case, max(errors), "of the gain", _WORST, errors,
                   controlled(_WORST, what, max(wrong)), condition, {}, conditions)


def _turns(context, shape):
    """Returns what two equal jobs gain by turns, or None where a run failed."""
    alone = pairs.solo(context, shape)
    both = alone and pairs.together(context, shape, context.build.library)
    if not both:
        return None
    solo = alone[0]
    shared = pairs.rate(shape, both, solo, 2 * solo.compute_ms)
    link = shape.machine().node_link_bytes_per_s if shape.links == "shared" else 0
    # The ring enters and leaves each node once.
    link_bytes = ring_all_reduce_seconds(GRADIENT_BYTES, shape.ranks, 1.0)
    gains = []
    for told in (link, 0):
        profiles = [advice.profile(gang, shape.ranks, 2, solo.compute_ms, solo.exposed_ms, link_bytes)
                    for gang in ("alpha", "beta")]
        pair = advice.advise(context.build, profiles, [advice.gpu_node(told)])["namespaces"][0]["pairs"]
        gains.append(pair[0]["gain"] if pair else 1.0)
    return _Found(gains[0], shared.gain, gains[1])


def _place(context, shape):
    """Returns what a job gains by ranks in the order of nodes, or None where a run failed."""
    ordered, placed = pairs.solo(context, replace(shape, seats=())), pairs.solo(context, shape)
    if not ordered or not placed:
        return None
    solo, machine = placed[0], shape.machine()
    nodes = [machine.place(rank)[0] for rank in range(shape.ranks)]
    ring = {"function": "AllReduce", "members": list(range(shape.ranks)), "bytes": GRADIENT_BYTES}
    asked = {"pods": shape.ranks, "groups": [ring], "compute_s": [], "domains": [nodes], "speeds": [],
             "seat_speeds": [], "link": machine.node_link_bytes_per_s}
    times = mappings.ask(context.build, [asked])[0]["uplink"]
    gains = []
    for told in (times, None):
        of_run = advice.profile("alpha", shape.ranks, 2, solo.compute_ms, solo.exposed_ms, 0, told)
        gains.append(advice.advise(context.build, [of_run], [])["place"][0].get("gain", 1.0))
    return _Found(gains[0], solo.step_ms / ordered[0].step_ms, gains[1])


def _balance(context, shape):
    """Returns what a job gains by parts of its batch by speed, or None where a run failed."""
    equal = pairs.solo(context, shape)
    if equal is None:
        return None
    step_ms, computes_ms = equal[0].step_ms, equal[1].computes_ms(shape.warm_up)
    with tempfile.TemporaryDirectory(prefix="crossover-shares-") as folder:
        weights = Path(folder) / "weights"
        weights.write_text(" ".join(str(round(1e4 / compute)) for compute in computes_ms) + "\n", encoding="ascii")
        parts = pairs.solo(context, replace(shape, extra=(*shape.extra, f"--shares={weights}")))
    if parts is None:
        return None
    gains = []
    for computes in (computes_ms, [computes_ms[0]] * len(computes_ms)):
        job = advice.running("alpha", computes, step_ms)
        gains.append(advice.advise(context.build, [], [advice.gpu_node(jobs=[job])])["balance"][0]["gain"])
    return _Found(gains[0], step_ms / parts[0].step_ms, gains[1])

"""mapping holds the seats that pods get by what they send to each other against what was not written with it
(benchmarks/planning/mappings.py).

small   1,000 drawn gangs of 2 to 8 pods on drawn trees of links. `mapping` is the part of them whose mapping costs as
        little as the best of all.
large   100 drawn gangs of 64 pods, whose ranks are in no order. `mapping_worse` counts those that cost more than pods
        in the order of their ranks. `mapping_gain` is the median, over the gangs that exchange bytes over the widest
        level, of what the busiest uplink of that level carries in the order of ranks, over what it carries in the
        mapping. `mapping_ms` is the time of the search that takes longest.
usual   the same of gangs whose ranks are as frameworks number them: there the order of ranks is good already

Controls: pods in random order; of the time, gangs of 2,048 pods.
"""

import random

from benchmarks.planning import mappings
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats
from testing.processes import Failed

CASES = ("small", "large", "usual")
SCOPE = "component"
GPUS = "no GPUs"
_SMALL, _LARGE, _PODS, _HUGE = 1000, 100, 64, 2048
_BEST, _NONE, _MS = Goal("==", 1), Goal("==", 0), Goal("<=", 50, "worst", runs=5)
_ROUNDING = 1e-9


def measure(context, case):
    draw = random.Random(f"mapping {case}")
    yield from (_small if case == "small" else _large)(context, case, draw)


def _mapped(build, gangs):
    """Returns what the product answers about the gangs."""
    answers = mappings.ask(build, [gang.text() for gang in gangs])
    for gang, answer in zip(gangs, answers):
        if sorted(answer["seat_of"]) != list(range(gang.pods)):
            raise Failed(f"placement_mapping: expected each seat once, got {answer['seat_of']}")
    return answers


def _exceeds(cost, other):
    """Returns whether `cost` is larger than `other` where they first differ by more than rounding."""
    for mine, theirs in zip(cost, other):
        if abs(mine - theirs) > _ROUNDING * max(abs(mine), abs(theirs)):
            return mine > theirs
    return False


def _shuffled(draw, pods):
    return draw.sample(range(pods), pods)


def _small(context, case, draw):
    gangs = [mappings.drawn(draw, draw.randint(2, 8)) for _ in range(_SMALL)]
    best = [mappings.least(gang) for gang in gangs]
    found = [mappings.cost(gang, answer["seat_of"]) for gang, answer in zip(gangs, _mapped(context.build, gangs))]
    at_random = [mappings.cost(gang, _shuffled(draw, gang.pods)) for gang in gangs]
    in_order = [mappings.cost(gang, range(gang.pods)) for gang in gangs]
    optimal, by_chance, by_rank = (
        sum(not _exceeds(mine, least) for mine, least in zip(costs, best)) / len(gangs)
        for costs in (found, at_random, in_order))
    context.say(f"    {optimal:.4f} are optimal; in random order {by_chance:.3f}, in order of ranks {by_rank:.3f}")
    yield Measured("mapping", case, optimal, "of 1,000 gangs", _BEST, (optimal,),
                   controlled(_BEST, "pods in random order", by_chance),
                   "2 to 8 pods; one to three levels; unequal links in half, unequal GPUs and stages in 0.3 of them",
                   {"in_order_of_ranks": by_rank})


def _large(context, case, draw):
    gangs = [mappings.drawn(draw, _PODS, shuffled=case == "large") for _ in range(_LARGE)]
    runs = [_mapped(context.build, gangs) for _ in range(_MS.runs)]
    found = [mappings.cost(gang, answer["seat_of"]) for gang, answer in zip(gangs, runs[0])]
    in_order = [mappings.cost(gang, range(gang.pods)) for gang in gangs]
    at_random = [mappings.cost(gang, _shuffled(draw, gang.pods)) for gang in gangs]
    worse, worse_by_chance = (sum(map(_exceeds, costs, in_order)) for costs in (found, at_random))
    condition = f"{_LARGE} gangs of {_PODS} pods, " + (
        "ranks in no order" if case == "large" else "ranks as frameworks number them")
    yield Measured("mapping_worse", case, worse, "gangs", _NONE, (worse,),
                   controlled(_NONE, "pods in random order", worse_by_chance), condition)
    crossing = [(mine[1], theirs[1]) for mine, theirs in zip(in_order, found) if mine[1]]
    gains = sorted(mine / theirs for mine, theirs in crossing if theirs)
    context.say(f"    median gain {stats.median(gains):.2f}, least {gains[0]:.2f}")
    yield Measured("mapping_gain", case, stats.median(gains), "of the busiest uplink of the widest level", Goal(">="),
                   tuple(gains), None, condition, {"nothing_left_there": len(crossing) - len(gains)})
    times = tuple(max(answer["ms"] for answer in answers) for answers in runs)
    slow = _mapped(context.build, [mappings.drawn(draw, _HUGE)])[0]["ms"]
    yield Measured("mapping_ms", case, _MS.of(times), "ms", _MS, times, controlled(_MS, f"{_HUGE} pods", slow),
                   condition)

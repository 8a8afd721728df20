"""shrink_gain is how far the cycle of jobs whose all-reduces are narrowed is from the one that the model predicts for
them from one job alone and not narrowed (benchmarks/turns/narrowed.py): two jobs that take turns, on 2 and 4 nodes of
one GPU, at m/c 1.5, 3 and 6, with shared links or links of their own; `alone`: one job. shrink_gain_alone is how many
times as fast q8 makes a job alone.

With `auto` the extender's code chooses the level by what was measured of one job alone, and the prediction is that of
this level. shrink_auto is the rate of two jobs with auto over the best rate of the same jobs without narrowing, with
bf16 and with q8, each in the same round; also at m/c 0.6, where the choice has to be that nothing is narrowed.

A case measures a shape once alone, and then each way in rounds. c, m and the codec's own time k are measured in the
same run: k is what narrowing adds to an iteration over links that take no time. The software GPU runs the kernels'
source on the host, so k is a part of its own time, not of a GPU's.

Controls: the same jobs without narrowing, by the same prediction; on nodes of several GPUs, 8 bits that are exchanged
over all ranks, without a hierarchy; of shrink_auto, a rule that takes a weaker level: the strongest whose predicted
cycle is beyond the goal. At m/c 0.6 there is none, and all levels have one rate: there the case fails if a level is
chosen.
"""

from dataclasses import dataclass, field, replace

from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.turns import narrowed, narrowed_jobs
from benchmarks.turns.narrowed_jobs import LEVELS
from testing import evaluate, pairs
from testing.shrink.wire import BUCKET

_GOAL = Goal("<=", 0.03, "median", runs=3)
_FASTER = Goal(">=", 2.5)
_OF_BEST = Goal(">=", 0.97, "worst", runs=3)
_RATIOS = (1.5, 3.0, 6.0)
_HIDDEN = 0.6  # turns hide the wait
_PAIRS = ((2, "private"), (2, "shared"), (4, "shared"))
_AUTO = "auto"
_OF_PREDICTED = "of the predicted cycle"
# The last bucket has to be one that is narrowed: 65,536 floats or more.
_LEAST_FLOATS = 66_560
_PAIR = pairs.Shape(1.5, compute_ms=30.0, ranks=2, iterations=50, warm_up=6, alone=26, early_bytes=0.0)
# Where many ranks compress at once, or ranks compress most of the time, they keep two cores busy and kernels are late.
# Such shapes compute so many times as long, and may be later by as much.
_LONGER = 2


@dataclass(frozen=True)
class _Case:
    """`levels` are those whose cycle is compared with the predicted one."""

    shape: pairs.Shape
    levels: tuple = LEVELS

    @property
    def auto(self):
        return self.shape.jobs > 1

    @property
    def ways(self):
        """The levels with which all jobs of the shape run in each round, in that order. The first of two jobs is ""."""
        return ("", *LEVELS, _AUTO) if self.auto else self.levels


def _cases():
    for nodes, links in _PAIRS:
        for ratio in _RATIOS if links == "private" else (_HIDDEN, *_RATIOS):
            times = _LONGER if nodes == 4 or (links, ratio) == ("shared", 6.0) else 1
            shape = _shape(nodes, times, ratio=ratio, ranks=nodes, links=links)
            yield f"{nodes}_{links}_{ratio:g}", _Case(shape) if ratio > 1 else _Case(shape, ())
    for ratio in _RATIOS:
        yield f"alone_{ratio:g}", _Case(_shape(2, ratio=ratio, jobs=1))
    yield "alone_2x2_6", _Case(_shape(2, ratio=6.0, ranks=4, jobs=1), ("q8",))


def _shape(nodes, times=1, **others):
    """Returns a shape whose gradients are the same number of whole buckets for each node, so that no node has more
    to send than the model says. Its jobs compute `times` as long, and its kernels may be later by as much."""
    floats = -(-_LEAST_FLOATS // (BUCKET * nodes)) * BUCKET * nodes
    return replace(_PAIR, nodes=nodes, gradient_bytes=4 * floats, compute_ms=times * _PAIR.compute_ms,
                   late_us=times * _PAIR.late_us, **others)


_BY_CASE = dict(_cases())
CASES = tuple(_BY_CASE)


def shape_of(case):
    return _BY_CASE[case].shape


@dataclass
class _Taken:
    """Holds what was measured of a case. `solo` is None, and the rest empty, if a run alone was void or failed."""

    solo: evaluate.Solo = None
    narrowings: dict = field(default_factory=dict)  # by level
    chosen: str = ""
    why: str = ""
    cycles_ms: dict = field(default_factory=dict)  # by way, one for each round; None and no more: void or failed

    @property
    def level(self):
        """The level that auto has."""
        return narrowed_jobs.level_of(self.chosen)


def measure(context, case):
    of = _BY_CASE[case]
    taken = _take(context, of)
    for way in (*of.levels, *((_AUTO,) if of.auto and of.levels else ())):
        yield _gain(context, case, of, taken, way)
    if of.auto:
        yield _of_best(case, of, taken)
    if case == "alone_6":
        yield _faster(case, of, taken)


def _take(context, of):
    shape, taken = of.shape, _Taken()
    without = pairs.solo(context, shape)
    if without is None:
        return taken
    if of.levels:
        taken.narrowings = narrowed_jobs.narrowings(context, shape, without[0], of.levels)
        if taken.narrowings is None:
            return _Taken()
    taken.solo = without[0]
    if of.auto:
        taken.chosen, taken.why = narrowed_jobs.choice(context, shape, taken.solo)
        if shape.ratio < 1 and taken.level:
            context.fail(f"expected that nothing is narrowed at m/c {shape.ratio:g}, got {taken.chosen}")
    taken.cycles_ms = {way: [] for way in of.ways}
    rounds = max(_GOAL.runs, context.runs)
    for number in range(rounds):
        for way, cycles in taken.cycles_ms.items():
            if None not in cycles:
                cycles.append(narrowed_jobs.cycle_ms(context, shape, way, taken.chosen if way == _AUTO else ""))
        found = {way or "plain": cycles[-1] and round(cycles[-1], 2) for way, cycles in taken.cycles_ms.items()}
        context.say(f"    round {number + 1} of {rounds}: {found}")
    return taken


def _gain(context, case, of, taken, way):
    shape = of.shape
    if taken.solo is None:
        return Measured("shrink_gain", f"{case}_{way}", None, _OF_PREDICTED, _GOAL, (), None,
                        f"{shape.condition()}, {way}", {}, shape.conditions(level=way))
    level = taken.level if way == _AUTO else way
    narrowing, predicted_ms = taken.narrowings[level], _predicted_ms(of, taken, level)
    cycles = taken.cycles_ms[way]
    samples = tuple(cycle and abs(cycle / predicted_ms - 1) for cycle in cycles)
    remarks = {"runs": [{"cycle_ms": cycle, "gain": shape.jobs * taken.solo.step_ms / cycle}
                        for cycle in cycles if cycle],
               "expected": {"c_ms": taken.solo.compute_ms, "m_ms": taken.solo.exposed_ms, "ratio": narrowing.ratio,
                            "codec_ms": narrowing.codec_ms, "cycle_ms": predicted_ms}}
    value = _GOAL.of(samples)
    control = None if value is None else _control(context, of, taken, predicted_ms)
    return Measured("shrink_gain", f"{case}_{way}", value, _OF_PREDICTED, _GOAL, samples, control,
                    f"{shape.condition()}, {_in_words(way, taken)}", remarks | _choice(way, taken),
                    shape.conditions(level=way))


def _predicted_ms(of, taken, level):
    shape = of.shape
    return narrowed.cycle_ms(taken.solo, shape.jobs, taken.narrowings[level], shape.links, shape.nccl_ctas)


def _control(context, of, taken, predicted_ms):
    shape = of.shape
    several = shape.ranks > shape.used_nodes()
    if several:
        bad_ms = [narrowed_jobs.cycle_ms(context, shape, "q8", node="rank{rank}")]
    elif shape.jobs == 1:
        bad_ms = [taken.solo.step_ms]
    else:
        bad_ms = taken.cycles_ms[""]
    what = "8 bits over all ranks, without a hierarchy" if several else "no narrowing"
    nearest = None if None in bad_ms else min(abs(cycle / predicted_ms - 1) for cycle in bad_ms)
    return controlled(_GOAL, what, nearest)


def _of_best(case, of, taken):
    """Returns what shrink_auto says of a shape."""
    shape = of.shape
    auto = _over_best(taken, _AUTO)
    weaker = _weaker(of, taken)
    control = None
    if weaker is not None:
        bad = _over_best(taken, weaker)
        control = controlled(_OF_BEST, f"a rule that takes {weaker or 'no level'} in place of {taken.level}",
                             None if None in bad else max(bad))
    value = _OF_BEST.of(auto) if auto else None
    remarks = {"cycles_ms": {way or "plain": cycles for way, cycles in taken.cycles_ms.items()}}
    return Measured("shrink_auto", case, value, "of the best rate of all levels", _OF_BEST, auto, control,
                    f"{shape.condition()}, {_in_words(_AUTO, taken)}", remarks | _choice(_AUTO, taken),
                    shape.conditions(level=_AUTO))


def _weaker(of, taken):
    """Returns the strongest level below the chosen one whose predicted cycle is beyond the goal; None if there is
    none."""
    if taken.level not in of.levels:
        return None
    limit_ms = _predicted_ms(of, taken, taken.level) / _OF_BEST.limit
    below = ("", *LEVELS)[:1 + LEVELS.index(taken.level)]
    return next((level for level in reversed(below) if _predicted_ms(of, taken, level) > limit_ms), None)


def _over_best(taken, way):
    """Returns, for each round, the rate of a way over the best rate of all levels; None where a run is missing."""
    fixed = [taken.cycles_ms[level] for level in ("", *LEVELS)] if taken.cycles_ms else []
    rounds = zip(taken.cycles_ms.get(way, ()), *fixed)
    return tuple(None if None in cycles else min(cycles[1:]) / cycles[0] for cycles in rounds)


def _faster(case, of, taken):
    """Returns what shrink_gain_alone says. Its control is bf16, whose bytes are twice as many."""
    q8, bf16 = (taken.cycles_ms.get(level, (None,)) for level in ("q8", "bf16"))
    faster = None if None in q8 else taken.solo.step_ms / max(q8)
    bad = None if None in bf16 else taken.solo.step_ms / min(bf16)
    return Measured("shrink_gain_alone", f"{case}_q8", faster, "of the rate without narrowing", _FASTER,
                    () if faster is None else (faster,), controlled(_FASTER, "bf16", bad),
                    f"{of.shape.condition()}, q8", {}, of.shape.conditions(level="q8"))


def _in_words(way, taken):
    return f"{way}: {taken.chosen}" if way == _AUTO and taken.chosen else way


def _choice(way, taken):
    return {"chosen": taken.chosen, "why": taken.why} if way == _AUTO and taken.chosen else {}

"""exits counts processes that crash or hang when they leave in the middle of a turn, of 500 exits in a held turn for
each way of leaving. The software GPU's driver crashes as real ones do when it is called while or after it is unloaded,
and that takes 5 ms. `exits_p99` is the time from the exit of a holder until the next client that is ready has its turn.

Control: a library whose helper goes on after the exit handlers have begun. `exits_p99` has the same control: such a
turn is given back when the process is gone.
"""

from benchmarks import exits, stats
from benchmarks.processes import Failed
from benchmarks.results import Goal, Measured, controlled

GOAL, P99_GOAL = Goal("==", 0), Goal("<=", 5)
CASES = tuple(exits.WAYS)
_EXITS, _JOBS_OF_RUN, _CONTROL_JOBS = 500, 50, 20
_MOST_RUNS = 20
_BAD = "drives_on"


def measure(context, case):
    outcomes, held = [], 0
    while held < _EXITS:
        if len(outcomes) == _MOST_RUNS:
            raise Failed(f"only {held} of {sum(o.exits for o in outcomes)} exits were in a held turn")
        outcomes.append(exits.play(context.build, case, _JOBS_OF_RUN, len(outcomes), context.build.library))
        if outcomes[-1].wrong:
            raise Failed(outcomes[-1].wrong)
        held += outcomes[-1].in_turn
        context.say(f"    {held} exits in a held turn; {outcomes[-1].crashes or 'no crash'}, "
                    f"{outcomes[-1].hangs or 'no hang'}")
    bad = exits.play(context.build, case, _CONTROL_JOBS, 0, context.build.known_bad(_BAD))
    wrong = [words for o in outcomes for words in (*o.crashes, *o.hangs)]
    condition = "a job of 2 ranks beside another, c = 10 ms, m/c = 0.6, mps, no guard; the driver takes 5 ms to unload"
    yield Measured("exits", case, len(wrong), f"crashes and hangs of {held} exits in a held turn", GOAL, (len(wrong),),
                   controlled(GOAL, "a library that goes on after exit() has begun", len(bad.crashes) + len(bad.hangs)),
                   condition, {"wrong": wrong, "control_saw": bad.crashes[:5]}, _conditions())
    waits = [wait for o in outcomes for wait in o.hand_over_ms]
    yield Measured("exits_p99", case, _p99(waits), "ms", P99_GOAL, tuple(waits),
                   controlled(P99_GOAL, "the same", _p99(bad.hand_over_ms)), condition, {}, _conditions())


def _conditions():
    return exits.SHAPE.conditions(jobs=2)


def _p99(values):
    return stats.percentile(values, 99) if values else None

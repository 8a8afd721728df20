"""exits counts processes that crash, hang or fail when they leave in the middle of a turn, of 500 exits in a held turn
for each way of leaving. The software GPU's driver crashes as real ones do when it is called while or after it is
unloaded, and that takes 5 ms. `exits_p99` is the time from the exit of a holder until the next client that is ready has
its turn, of 200 such hand-overs at least.

Controls: the library of a revision that did nothing at exit, and today's whose arbiter thread goes on after the exit
handlers have begun, which differs in that alone. Of a control, only ends by a signal and hangs count. `exits_p99` has
the same controls: such a turn is given back when the process is gone.
"""

from benchmarks.faults import leaving_ranks
from benchmarks.runner import older_library
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats
from testing.processes import Failed

GOAL, P99_GOAL = Goal("==", 0), Goal("<=", 5)
CASES = tuple(leaving_ranks.WAYS)
_EXITS, _HAND_OVERS = 500, 200
_JOBS_OF_RUN, _CONTROL_JOBS = 50, 40
_MOST_RUNS = 20
_BAD, _OLD = "drives_on", "a261eb0"


def measure(context, case):
    outcomes = []
    while leaving_ranks.too_few(outcomes, _EXITS, _HAND_OVERS):
        if len(outcomes) == _MOST_RUNS:
            raise Failed(f"{leaving_ranks.too_few(outcomes, _EXITS, _HAND_OVERS)}, in {_MOST_RUNS} runs with "
                         f"{sum(outcome.exits for outcome in outcomes)} exits")
        outcomes.append(leaving_ranks.play(context.build, case, _JOBS_OF_RUN, len(outcomes), context.build.library))
        if outcomes[-1].wrong:
            raise Failed(outcomes[-1].wrong)
        context.say(f"    {sum(outcome.in_turn for outcome in outcomes)} exits in a held turn; "
                    f"{outcomes[-1].words_of() or 'all sound'}")
    bad = {what: leaving_ranks.play(context.build, case, _CONTROL_JOBS, 0, library) for what, library in (
        (f"the library of revision {_OLD}", older_library.library_of(_OLD, context.build)),
        ("a library that goes on after exit() has begun", context.build.known_bad(_BAD)))}
    for what, outcome in bad.items():
        context.say(f"      {what}: {outcome.wrong or f'{outcome.fatal} crashes and hangs'}")
    wrong = [words for outcome in outcomes for words in outcome.words_of()]
    held = sum(outcome.in_turn for outcome in outcomes)
    condition = "a job of 2 ranks beside another, c = 10 ms, m/c = 0.6, mps, no guard; the driver takes 5 ms to unload"
    yield Measured("exits", case, len(wrong), f"crashes, hangs and failures of {held} exits in a held turn", GOAL,
                   (len(wrong),), tuple(controlled(GOAL, what, outcome.fatal) for what, outcome in bad.items()),
                   condition, {"wrong": wrong, "control_saw": _seen(bad)}, _conditions())
    waits = [wait for outcome in outcomes for wait in outcome.hand_over_ms]
    yield Measured("exits_p99", case, _p99(waits), "ms", P99_GOAL, tuple(waits),
                   tuple(controlled(P99_GOAL, what, _p99(outcome.hand_over_ms)) for what, outcome in bad.items()),
                   condition, {"hand_overs": len(waits)}, _conditions())


def _seen(bad):
    """Returns what was seen of each control."""
    return {what: {"ends": outcome.words_of()[:5], "wrong": outcome.wrong} for what, outcome in bad.items()}


def _conditions():
    return leaving_ranks.SHAPE.conditions(jobs=2)


def _p99(values):
    return stats.percentile(values, 99) if values else None

"""arbiter_restarts counts the runs in which jobs stopped or had wrong losses, over 50 kills of the arbiter. Another
kill follows half of them at once. Beside it stand how soon turns were back, and the wrong entries in the daemon's books
afterwards.

Controls: a stream that gets stuck, which must be seen as a job that stopped; a library that looks for its arbiter only
once, which never takes turns again.
"""

from benchmarks.faults import arbiter_kills
from benchmarks.runner.results import Goal, Measured, controlled

GOAL, RESUMED_GOAL, BOOKS_GOAL = Goal("==", 0), Goal("<=", 1000), Goal("==", 0)
CASES = ("2_jobs",)
_RUNS, _KILLS = 5, 10
_ASKS_ONCE = "asks_once"


def measure(context, case):
    scenarios = [arbiter_kills.Scenario(_KILLS, seed) for seed in range(_RUNS)]
    wrong = []
    for scenario in scenarios:
        wrong.append(arbiter_kills.play(context.build, scenario, context.build.library, context.isolated))
        context.say(f"    {len(scenario.resumed_ms)} kills, turns back after at most "
                    f"{max(scenario.resumed_ms, default=0):.0f} ms; {wrong[-1] or 'nothing wrong'}")
    condition = f"{scenarios[0].shape.condition()}; {_RUNS} runs of {_KILLS} kills"
    conditions = scenarios[0].shape.conditions()
    bad = [text for text in wrong if text]
    stuck = arbiter_kills.play(context.build, arbiter_kills.Scenario(1, 0), context.build.library, context.isolated,
                               {"SIMGPU_FAULT": "stuck_stream:1000"})
    yield Measured("arbiter_restarts", case, len(bad), "bad runs", GOAL, (len(bad),),
                   controlled(GOAL, "a stream gets stuck", int(bool(stuck))), condition, {"wrong": bad},
                   conditions)
    once = arbiter_kills.Scenario(1, 0)
    arbiter_kills.play(context.build, once, context.build.known_bad(_ASKS_ONCE), context.isolated)
    resumed = tuple(ms for scenario in scenarios for ms in scenario.resumed_ms)
    yield Measured("arbiter_restarts_resumed", case, max(resumed, default=None), "ms, worst", RESUMED_GOAL, resumed,
                   controlled(RESUMED_GOAL,
                              f"a library that asks once (given up after {arbiter_kills.PATIENCE_S:.0f} s)",
                              max(once.resumed_ms, default=arbiter_kills.PATIENCE_S * 1e3)), condition,
                   {}, conditions)
    books = [text for scenario in scenarios for text in scenario.books]
    yield Measured("arbiter_restarts_books", case, len(books), "wrong entries", BOOKS_GOAL, (len(books),), None,
                   condition, {"wrong": books}, conditions)

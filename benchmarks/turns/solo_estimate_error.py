"""solo_estimate_error is the distance between the step alone that `crossover top` estimates for jobs that never ran
alone and the step that they have alone.

Control, the planted fault: the step together is shown as the step alone.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, session, stats

GOAL = Goal("<=", 0.03, "median", runs=5)
_BY_CASE = {f"plain_{ratio:g}": pairs.Shape(ratio, iterations=120, warm_up=30) for ratio in (0.2, 0.6, 1.0)}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    runs = []

    def one():
        runs.append(_one(context, shape))
        return runs[-1] and _off(runs[-1], "estimates_ms")

    value, errors = pairs.measured_by(context, GOAL, one)
    planted = None if value is None else stats.median([_off(run, "steps_ms") for run in runs])
    yield Measured("solo_estimate_error", case, value, "of the step alone", GOAL, errors,
                   controlled(GOAL, "the step shared in place of the step alone", planted), shape.condition(),
                   {"runs": runs}, shape.conditions())


def _off(run, what):
    return max(abs(shown - run["alone_ms"]) for shown in run[what]) / run["alone_ms"]


def _one(context, shape):
    alone = pairs.solo(context, shape)
    if alone is None:
        return None
    tops = []

    def ask(running):
        running.wait_for_iterations(shape.iterations * 3 // 4)
        tops.append(running.top())

    if pairs.together(context, shape, context.build.library, during=ask) is None:
        return None
    clients = [c for job in tops[-1]["jobs"] for c in job["clients"]]
    sources = {c.get("alone", {}).get("source") for c in clients}
    if sources != {"estimated"}:
        raise session.Failed(f"the source of the step alone is {sources}, wanted: estimated")
    found = {"alone_ms": alone[0].step_ms, "estimates_ms": [c["alone"]["step_ms"] for c in clients],
             "steps_ms": [c["step_ms"] for c in clients]}
    context.say(f"    {found}")
    return found

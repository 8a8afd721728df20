"""solo_estimate_error: how far the step alone that `crossover top` estimates for jobs that never ran alone is from the
step that they have alone.

Control, the planted fault: what they take together, shown as what they take alone.
"""

from benchmarks import pairs, session, stats
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("<=", 0.03)
_BY_CASE = {f"plain_{ratio:g}": pairs.Shape(ratio, iterations=120, warm_up=30) for ratio in (0.2, 0.6, 1.0)}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    runs = [_one(context, shape) for _ in range(context.runs)]
    if None in runs:
        yield Measured("solo_estimate_error", case, None, "of the step alone", GOAL, ())
        return
    errors = tuple(max(abs(e - r["alone_ms"]) for e in r["estimates_ms"]) / r["alone_ms"] for r in runs)
    planted = stats.median([max(abs(s - r["alone_ms"]) for s in r["steps_ms"]) / r["alone_ms"] for r in runs])
    yield Measured("solo_estimate_error", case, stats.median(errors), "of the step alone", GOAL, errors,
                   controlled(GOAL, "the step shared in place of the step alone", planted), shape.condition(),
                   {"runs": runs})


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

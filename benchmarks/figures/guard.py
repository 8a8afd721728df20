"""guard: work done per time by two jobs whose way of sharing is left to the guard, over one after the other;
guard_best: over the best of always turns, always side by side, one after the other.

Over the second half of 26 s, as the first trial and its confirmation lie before it: in the job model with the hand-over
cost that is measured, and in processes. Controls: always turns where hand-overs cost more than they bring, always side
by side where turns pay. Elsewhere no way is bad: nothing is there to be caught.
"""

import json

from benchmarks import evaluate, job_model, kinds, pairs, stats
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal(">=", 0.99)
_BEST = Goal(">=", 0.97)
_RATIOS = (0.0, 0.05, 0.1)
_MODEL = {f"model_{c:g}_{ratio:g}": (c, ratio, 1.0) for c in (0.5, 1, 2) for ratio in _RATIOS}
_MODEL["model_small_kernels"] = (2, 0.0, 0.4)
_MODEL["model_20_0.6"] = (20, 0.6, 1.0)
# Declared beforehand: the way that must miss both goals.
_LOSES = {**dict.fromkeys(("model_0.5_0", "model_0.5_0.05", "model_0.5_0.1", "model_1_0", "model_2_0",
                           "model_small_kernels"), "turns"), "model_20_0.6": "side_by_side"}
_PROCESSES = {f"{mode}_{c}_{ratio:g}": (mode, c, ratio) for mode in ("mps", "timeslice") for c in (5, 20)
              for ratio in (0.02, 0.1)}
SCOPE = {**dict.fromkeys(_MODEL, "component"), **dict.fromkeys(_PROCESSES, "chain")}
CASES = (*_MODEL, *_PROCESSES)
_SECONDS = 26
_WAYS = {"guard": ("guard: on",), "turns": ("guard: off",), "side_by_side": ("mode: observe",)}


def measure(context, case):
    rates = _in_model(context, case) if case in _MODEL else _in_processes(context, case)
    if rates is None:
        yield Measured("guard", case, None, "of one after the other", GOAL, (), conditions=_conditions(case))
        return
    condition = f"rates: {json.dumps({way: [round(r, 4) for r in found] for way, found in rates.items()})}"
    value = stats.median(rates["guard"])
    turns, beside = stats.median(rates["turns"]), stats.median(rates["side_by_side"])
    best = max(1.0, turns, beside)
    yield Measured("guard", case, value, "of one after the other", GOAL, tuple(rates["guard"]),
                   _control(GOAL, case, rates, 1.0), condition, {}, _conditions(case))
    yield Measured("guard_best", case, value / best, "of the best way", _BEST, tuple(r / best for r in rates["guard"]),
                   _control(_BEST, case, rates, best), condition, {}, _conditions(case))


def _control(goal, case, rates, reference):
    way = _LOSES.get(case)
    if way is None or (goal is GOAL and way == "side_by_side"):  # which is never slower than one after the other
        return None
    return controlled(goal, f"always {way.replace('_', ' ')}", stats.median(rates[way]) / reference)


def _conditions(case):
    if case in _PROCESSES:
        return _shape(case).conditions()
    compute, ratio, width = _MODEL[case]
    return kinds.of_job_model(2, compute, ratio, round(132 * width))


def _in_model(context, case):
    compute, ratio, width = _MODEL[case]
    job = (compute, max(0.001, compute * ratio))
    runs = {way: job_model.run(context.build, (job, job), _SECONDS, way=way, width=width) for way in _WAYS}
    return {way: [sum(run["rates"])] for way, run in runs.items()}


def _in_processes(context, case):
    shape = _shape(case)
    alone = pairs.solo(context, shape)
    if alone is None:
        return None
    rates = {way: [] for way in _WAYS}
    for _ in range(context.runs):
        for way, settings in _WAYS.items():
            result = pairs.together(context, shape, context.build.library, settings=settings)
            if result is None:
                return None
            shared = evaluate.shared_of(list(result.jobs.values()), [alone[0]] * 2, 1.0, shape.warm_up)
            rates[way].append(shared.gain)
            context.say(f"    {way}: {shared.gain:.4f}")
    return rates


def _shape(case):
    mode, compute, ratio = _PROCESSES[case]
    iterations = _SECONDS * 1000 // (2 * compute)
    return pairs.Shape(ratio, compute_ms=float(compute), mode=mode, iterations=iterations, warm_up=iterations // 2,
                       counted_from=iterations // 2, ranks=2)

"""shrink_quality trains with each reduction of the example trainer (--reduction), and compares the loss after a
fixed budget with that of a plain sum: ten seeds, which decide the first parameters, the order of the data
and the random numbers of the reductions.

The learning rate is that of one rank times the number of ranks, as is usual where gradients are averaged. Adasum has
that of one rank.

digits        the trainer on software GPUs
transformer   a small transformer on the CPU, by the same code of the reductions

A sample is the loss beyond that of the sum with the same seed, as a part of the standard deviation of the sum's losses
over the seeds. The value is the mean of the samples. A reduction may lose one deviation.

Controls: 2 bits rounded to the nearest level, where the reduction changes values; top-k without its residual; Adasum at
the learning rate of the others. Each must lose more than a deviation.
"""

import math

from benchmarks.quality import digit_runs, transformer_runs
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats

_SEEDS = range(1, 11)
_RUNS = {"digits": (digit_runs, "images, 7,434 parameters, each rank on a node of its own"),
         "transformer": (transformer_runs, "sequences of 16 tokens, 9,824 parameters")}
_REDUCTIONS = ("bf16", "q8", "adaptive", "topk", "adasum")
CASES = tuple(f"{runs}_{reduction}" for runs in _RUNS for reduction in _REDUCTIONS)
SCOPE = "component"
# These are the known-bad variants: what each is, and the arguments of its runs.
_TWO_BITS = ("2 bits to the nearest level", "q8", "two-bits")
_CONTROLS = {"topk": ("without the residual", "topk", "no-residual"),
             "adasum": ("at the scaled learning rate", "adasum")}
_GOAL = Goal("<=", 1)


def measure(context, case):
    name, reduction = case.split("_")
    runs, words = _RUNS[name]
    for_all = runs.RANKS * runs.RATE_OF_ONE_RANK
    plain = _losses(context, runs, for_all, "sum")
    reduced = _losses(context, runs, runs.RATE_OF_ONE_RANK if reduction == "adasum" else for_all, reduction)
    what, *arguments = _CONTROLS.get(reduction, _TWO_BITS)
    bad = _losses(context, runs, for_all, *arguments)
    noise = _deviation(plain)
    samples, control = (tuple((a - b) / noise for a, b in zip(losses, plain)) for losses in (reduced, bad))
    means = {"sum": stats.mean(plain), reduction: stats.mean(reduced), what: stats.mean(bad)}
    context.say(f"    {means}, deviation of the sum {noise:.4f}")
    condition = (f"{name}, {len(plain)} seeds, {runs.RANKS} ranks, {runs.ITERATIONS} iterations, for each rank "
                 f"{runs.BATCH} {words}; SGD without momentum at {for_all:g}, Adasum at {runs.RATE_OF_ONE_RANK:g}")
    yield Measured("shrink_quality", case, stats.mean(samples), "deviations of the sum's loss over seeds", _GOAL,
                   samples, controlled(_GOAL, what, stats.mean(control)), condition,
                   {"losses": means, "deviation": noise, "of_seeds": {"sum": plain, reduction: reduced, what: bad}})


def _losses(context, runs, *arguments):
    return [runs.loss(context.build, seed, *arguments) for seed in _SEEDS]


def _deviation(values):
    mean = stats.mean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))

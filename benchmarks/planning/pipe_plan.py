"""pipe_plan holds `crossover plan pipeline` against what was not written with it (benchmarks/planning/pipelines.py).

random      1,000 drawn pipelines of 3 to 14 blocks on 2 to 4 stages, each of which can be divided in several ways.
            `pipe_plan` is the part of them whose planned division is the best of all, by an event loop, where the
            planner searches and does not try all. `pipe_plan_worst` is the worst plan by the best division.
            `pipe_plan_loop` counts the plans whose time is not that of the event loop, and `pipe_plan_slices` those
            whose number of halved micro-batches is not the best one.
tables      the published profiles of DAPPLE and Piper, 4 and 8 stages, 8 and 32 micro-batches: the least ratio of the
            time of the division that each one's published estimate picks to that of the plan. The event loop says both
            times. It is what the planner minimises, so a plan that is worse is one that the search missed. What the
            spread of the stages' times is in even divisions, over that in the plan, stands beside.
large       seconds for 96 blocks, 32 stages and 128 micro-batches

Controls: as many blocks in each stage; an event loop without transfers; all micro-batches halved; the plan by even
stages; a search that may simulate more.
"""

import json
import random
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.planning import pipelines
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats
from testing.processes import Failed

CASES = ("random", "tables", "large")
SCOPE = "component"
GPUS = "no GPUs"
_COUNT = 1000
_BEST, _WORST, _NONE = Goal(">=", 0.99), Goal("<=", 1.01), Goal("==", 0)
_NEVER_WORSE, _SECONDS = Goal(">=", 1), Goal("<=", 1, judged="median", runs=5)
_GBIT = 80  # ten bytes in a nanosecond
_LATENCY_US = 0.02


def measure(context, case):
    with tempfile.TemporaryDirectory(prefix="pipe-plan-") as folder:
        planner = Planner(context.build.program("crossover"), Path(folder) / "profile.csv")
        yield from {"random": _random, "tables": _tables, "large": _large}[case](context, case, planner)


class Planner:
    """Runs the command on profiles."""

    def __init__(self, program, path):
        self._program, self._path = program, path

    def plan(self, blocks, stages, microbatches, link, *options):
        self._path.write_text(pipelines.csv(blocks), encoding="utf-8")
        command = [self._program, "plan", "pipeline", "--profile", self._path, "--stages", stages, "--microbatches",
                   microbatches, "--slice-cost", 0, "-o", "json", *options]
        if link.bytes_per_ns:
            command += ["--link-gbit", link.bytes_per_ns * 8]
        command += ["--latency-us", link.latency / 1e3]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise Failed(f"crossover plan pipeline: {done.stderr}")
        return Plan(json.loads(done.stdout))


class Plan:
    """Holds what the command said, with times in ns."""

    def __init__(self, said):
        self.borders = (*(stage["begin"] for stage in said["stages"]), said["stages"][-1]["end"])
        self.sliced = said["sliced_microbatches"]
        self.iteration = round(said["iteration_ms"] * 1e6)
        self.unsliced = round(said["compared"]["not_sliced"]["iteration_ms"] * 1e6)


def _drawn(draw):
    stages = draw.randint(2, 4)
    blocks = [pipelines.Block(draw.randint(1, 4000), draw.randint(1, 6000), 20 * draw.randint(0, 600))
              for _ in range(draw.randint(stages + 1, 14))]
    link = pipelines.Link(draw.choice((0, 20)), draw.choice((0, _GBIT / 8)))
    return blocks, stages, draw.randint(2, 8), link


def _random(context, case, planner):
    draw = random.Random("pipe_plan")
    ratios, by_even, loop, loop_control, slices, slices_control = [], [], 0, 0, 0, 0
    for _ in range(_COUNT):
        blocks, stages, microbatches, link = _drawn(draw)
        plan = planner.plan(blocks, stages, microbatches, link, "--try-all-up-to", 0)
        parts = pipelines.stages_of(blocks, plan.borders)
        best = pipelines.best_ns(blocks, stages, microbatches, link)
        even = pipelines.stages_of(blocks, pipelines.even(len(blocks), stages))
        ratios.append(plan.unsliced / best)
        by_even.append(pipelines.iteration_ns(even, microbatches, link) / best)
        by_slices = [pipelines.iteration_ns(parts, microbatches, link, sliced) for sliced in range(microbatches + 1)]
        loop += (by_slices[0], by_slices[plan.sliced]) != (plan.unsliced, plan.iteration)
        loop_control += pipelines.iteration_ns(parts, microbatches) != plan.unsliced
        slices += by_slices.index(min(by_slices)) != plan.sliced
        slices_control += by_slices[-1] != min(by_slices)
    context.say(f"    {sum(ratio == 1 for ratio in ratios)} of {_COUNT} plans are the best division; the worst is at "
                f"{max(ratios):.4f}")
    condition = (f"{_COUNT} drawn pipelines of 3 to 14 blocks, 2 to 4 stages and 2 to 8 micro-batches, "
                 "against all divisions")
    yield Measured("pipe_plan", case, sum(ratio == 1 for ratio in ratios) / _COUNT, "of the plans", _BEST, (_COUNT,),
                   controlled(_BEST, "as many blocks in each stage", sum(ratio == 1 for ratio in by_even) / _COUNT),
                   condition)
    yield Measured("pipe_plan_worst", case, max(ratios), "of the best time", _WORST, (_COUNT,),
                   controlled(_WORST, "as many blocks in each stage", max(by_even)), condition)
    yield Measured("pipe_plan_loop", case, loop, "plans with another time", _NONE, (_COUNT,),
                   controlled(_NONE, "an event loop without transfers", loop_control), condition)
    yield Measured("pipe_plan_slices", case, slices, "plans with another number of slices", _NONE, (_COUNT,),
                   controlled(_NONE, "all micro-batches are halved", slices_control), condition)


def _tables(context, case, planner):
    link = pipelines.Link(round(_LATENCY_US * 1e3), _GBIT / 8)
    rows, ratios, balances, by_even = {}, [], [], []
    for name, blocks in pipelines.tables().items():
        for stages in (4, 8):
            for microbatches in (8, 32):
                plan = planner.plan(blocks, stages, microbatches, link)
                mine = pipelines.stages_of(blocks, plan.borders)
                own = pipelines.iteration_ns(mine, microbatches, link)
                picks = {"dapple": pipelines.picked_by_dapple(blocks, stages, microbatches, link),
                         "piper": pipelines.picked_by_piper(blocks, stages, link)}
                times = {who: pipelines.iteration_ns(pipelines.stages_of(blocks, borders), microbatches, link) / own
                         for who, borders in picks.items()}
                even = pipelines.stages_of(blocks, pipelines.even(len(blocks), stages))
                ratios += times.values()
                by_even += [pipelines.iteration_ns(pipelines.stages_of(blocks, borders), microbatches, link)
                            / pipelines.iteration_ns(even, microbatches, link) for borders in picks.values()]
                balances.append(_spread(even) / max(_spread(mine), 1))
                rows[f"{name} {stages} {microbatches}"] = times
    context.say(f"    least {min(ratios):.4f}, median {stats.median(ratios):.4f}, most {max(ratios):.4f}")
    yield Measured("pipe_plan_tables", case, min(ratios), "of the plan's time", _NEVER_WORSE, tuple(ratios),
                   controlled(_NEVER_WORSE, "as many blocks in each stage", min(by_even)),
                   f"16 published profiles, 4 and 8 stages, 8 and 32 micro-batches, links of {_GBIT} Gbit/s",
                   {"by_table": rows, "balance_of_even_by_plan_median": stats.median(balances)})


def _spread(parts):
    """Returns the standard deviation of the stages' times."""
    times = [forward + backward for forward, backward, _ in parts]
    mean = sum(times) / len(times)
    return (sum((t - mean) ** 2 for t in times) / len(times)) ** 0.5


def _large(context, case, planner):
    draw = random.Random("pipe_plan large")
    blocks = [pipelines.Block(draw.randint(10_000, 400_000), draw.randint(20_000, 800_000),
                              10 * draw.randint(0, 10_000)) for _ in range(96)]
    link = pipelines.Link(0, _GBIT / 8)

    def seconds(*options):
        begin = time.monotonic()
        planner.plan(blocks, 32, 128, link, *options)
        return time.monotonic() - begin
    took = [seconds() for _ in range(5)]
    slow = seconds("--most-operations", 200_000_000)
    context.say(f"    {stats.median(took):.2f} s; control {slow:.2f} s")
    yield Measured("pipe_plan_large_s", case, stats.median(took), "s", _SECONDS, tuple(took),
                   controlled(_SECONDS, "a search that simulates more", slow),
                   "96 blocks, 32 stages, 128 micro-batches; the whole command, with what it compares")

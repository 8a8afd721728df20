"""pipe_run runs plans of `crossover plan pipeline` as pipelines of the example trainer on the software GPU: eight
ranks, each of which is a stage, on two nodes. An iteration is that of the first rank, which begins and ends each: the
median of the iterations behind the warm-up. Each sample is a ratio of times in one go, and the value is the median.

planned      how far the iteration is from the planned one: 24 unequal blocks, and links on which a message takes as
             long as a block. `pipe_run_longer_beside` says by how much it is longer.
slices       what the halved forward passes gain, over what an event loop says that shares no code with the planner:
             equal blocks
output       the time of equal layers over that of the plan: 24 layers of two blocks each, and an output layer as
             long as two layers
slow_server  the same for 24 equal layers, where the GPUs of one node are half as fast; equal layers get the order of
             the servers that suits them

Controls: a plan for links that cost nothing, by its own time; all micro-batches halved; equal layers again; a plan for
servers of one speed. The losses of all runs of a model must be the same.
"""

import json
import math
import random
import subprocess
import tempfile
from pathlib import Path

from benchmarks.planning import pipelines
from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, session, stats
from testing.commands import Job
from testing.machine import Machine
from testing.processes import Failed

CASES = ("planned", "slices", "output", "slow_server")
# A micro-batch has few images: what eight ranks compute at the same moments must not make kernels late on few cores.
_NODES, _GPUS, _BATCH, _WIDTH = 2, 4, 2, 64
_STAGES = _NODES * _GPUS
_MESSAGE = _BATCH * _WIDTH * 4  # bytes; examples/trainer/stage_model.h
_ITERATIONS, _WARM_UP = 8, 2
_KERNEL_SMS = 112  # the four communicators of a rank hold 16 of 132
_MS = 1_000_000
_FAST = 1e9
_ERROR = Goal("<=", 0.03, "median")
_SLICES = Goal(">=", 0.9, "median")
_OVER_EVEN = Goal(">=", 1.15, "median")
_SHOWN = Goal(judged="median")
_SLICE_COST = 0.1


def measure(context, case):
    with tempfile.TemporaryDirectory(prefix="pipe-run-") as folder:
        runs = _Runs(context, Path(folder))
        yield from {"planned": _planned, "slices": _slices, "output": _output, "slow_server": _slow_server}[case](
            context, case, runs)


class _Runs:
    """Plans pipelines and runs them, for one case."""

    def __init__(self, context, folder):
        self._context, self._folder = context, folder
        self._digests = {}  # by model: number of blocks and micro-batches

    def plan(self, blocks, microbatches, *options, servers=None):
        """Returns what the planner says, as a dict."""
        profile, cluster = self._folder / "profile.csv", self._folder / "cluster.json"
        profile.write_text(pipelines.csv(blocks), encoding="utf-8")
        command = [self._context.build.cli, "plan", "pipeline", "--profile", profile, "--stages", _STAGES,
                   "--microbatches", microbatches, "--slice-cost", _SLICE_COST, "-o", "json", *options]
        if servers:
            cluster.write_text(json.dumps({"servers": servers}), encoding="utf-8")
            command += ["--cluster", cluster]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            raise Failed(f"crossover plan pipeline: {done.stderr}")
        return json.loads(done.stdout)

    def ms(self, plan, links=(_FAST, _FAST)):
        """Returns the time of an iteration of a plan, or None where no run was valid. `links` are bytes per second
        between the GPUs of a node, and between nodes."""
        path = self._folder / "plan.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        compute_ms = plan["microbatches"] * stats.mean(s["forward_ms"] + s["backward_ms"] for s in plan["stages"])
        job = Job("alpha", 1, compute_ms, _ITERATIONS, "pipeline",
                  extra=(f"--plan={path}", f"--batch={_BATCH}", f"--kernel-sms={_KERNEL_SMS}"))
        machine = Machine(_NODES, _GPUS, gpu_link_bytes_per_s=links[0], node_link_bytes_per_s=links[1],
                          link_sharing="private")
        deadline_s = 60 + 10e-3 * compute_ms * _ITERATIONS
        result = self._context.session(session.Plan(machine, (job,), None, deadline_s, self._context.isolated))
        if result is None:
            return None
        log = result.job("alpha")
        model = plan["stages"][-1]["end"], plan["microbatches"]
        digests = {rank.summary["losses_digest"] for rank in log.ranks} | {self._digests.get(model)} - {None}
        last = float.fromhex(log.ranks[0].iterations[-1].loss)
        if len(digests) != 1 or not math.isfinite(last):
            self._context.fail(f"losses of the same model differ, or are no numbers: {sorted(digests)}, {last}")
            return None
        self._digests[model] = digests.pop()
        return stats.median([(i.end_ns - i.begin_ns) / _MS for i in log.ranks[0].iterations[_WARM_UP:]])

    def ratio(self, one, other):
        """Returns the time of a plan over that of another one, or None."""
        times = self.ms(one), self.ms(other)
        return None if None in times else times[0] / times[1]


def _divided(blocks, borders, microbatches, speeds=(1,) * _STAGES):
    """Returns a plan, as the trainer reads it, with the blocks divided like that."""
    stages = [{"begin": begin, "end": end, "forward_ms": forward / _MS / speed, "backward_ms": backward / _MS / speed}
              for (begin, end), (forward, backward, _), speed
              in zip(zip(borders, borders[1:]), pipelines.stages_of(blocks, borders), speeds)]
    return {"schedule": "1f1b", "microbatches": microbatches, "sliced_microbatches": 0, "slice_cost": 0,
            "stages": stages}


def _conditions(blocks, microbatches, transfer_ms=0.0, **more):
    c_ms = microbatches * sum(b.forward + b.backward for b in blocks) / _MS / _STAGES
    return {"kind": "processes", "jobs": 1, "ranks": _STAGES, "c_ms": c_ms,
            "m_over_c": 2 * microbatches * transfer_ms / c_ms, "links": "private", "jitter": 0,
            "kernel_sms": _KERNEL_SMS, "co_run": 1, "mode": "mps", "variant": "pipeline", "blocks": len(blocks),
            "microbatches": microbatches, "iterations": _ITERATIONS, "counted_from": _WARM_UP, **more}


def _planned(context, case, runs):
    draw, microbatches = random.Random("pipe_run"), 16
    blocks = [pipelines.Block(draw.randint(2, 8) * _MS, draw.randint(4, 16) * _MS, _MESSAGE) for _ in range(24)]
    inner_ms, network_ms = 4, 10
    links = _MESSAGE / inner_ms * 1e3, _MESSAGE / network_ms * 1e3
    servers = [{"name": name, "gpus": _GPUS, "inner_gbit": links[0] * 8e-9, "network_gbit": links[1] * 8e-9}
               for name in "ab"]
    plan = runs.plan(blocks, microbatches, servers=servers)
    careless = runs.plan(blocks, microbatches, servers=[{"name": name, "gpus": _GPUS} for name in "ab"])
    longer = []

    def error(of=plan):
        ms = runs.ms(of, links)
        if ms is None:
            return None
        context.say(f"      {ms:.1f} ms, planned {of['iteration_ms']:.1f} ms")
        if of is plan:
            longer.append(ms / plan["iteration_ms"] - 1)
        return abs(ms / of["iteration_ms"] - 1)

    value, samples = pairs.measured_by(context, _ERROR, error)
    control = controlled(_ERROR, "a plan for links that cost nothing", error(careless))
    condition = (f"24 unequal blocks, {_STAGES} stages, {microbatches} micro-batches; a message takes {inner_ms} ms "
                 f"within a node and {network_ms} ms between nodes")
    conditions = _conditions(blocks, microbatches, stats.mean([inner_ms] * 6 + [network_ms]))
    yield Measured("pipe_run_error", case, value, "1", _ERROR, samples, control, condition, {}, conditions)
    yield Measured("pipe_run_longer_beside", case, _SHOWN.of(longer) if longer else None, "1", _SHOWN, tuple(longer),
                   None, condition, {}, conditions)


def _slices(context, case, runs):
    microbatches = 16
    blocks = [pipelines.Block(5 * _MS, 8 * _MS, _MESSAGE)] * 24
    plan = runs.plan(blocks, microbatches)
    whole_ms, sliced_ms = (_simulated_ns(plan | {"sliced_microbatches": sliced}) / _MS
                           for sliced in (0, plan["sliced_microbatches"]))
    expected = 1 - sliced_ms / whole_ms
    context.say(f"    {plan['sliced_microbatches']} of {microbatches} micro-batches are halved: {whole_ms:.1f} ms "
                f"become {sliced_ms:.1f} ms, by the planner {plan['iteration_ms']:.1f} ms")

    def gained(sliced=plan["sliced_microbatches"]):
        ratio = runs.ratio(plan | {"sliced_microbatches": sliced}, plan | {"sliced_microbatches": 0})
        return None if ratio is None else (1 - ratio) / expected

    value, samples = pairs.measured_by(context, _SLICES, gained)
    control = controlled(_SLICES, "all micro-batches are halved", gained(microbatches))
    yield Measured("pipe_run_slices", case, value, "of the event loop's gain", _SLICES, samples, control,
                   f"24 equal blocks, {_STAGES} stages, {microbatches} micro-batches; two halves of a forward pass "
                   f"take {_SLICE_COST:.0%} longer than the whole", {"gain_of_the_event_loop": expected},
                   _conditions(blocks, microbatches))


def _over_even(context, case, runs, parts, condition, conditions):
    """Measures equal layers over the plan. `parts` are the plan, equal layers, and a control with what it is."""
    plan, even, bad, what = parts

    def ratio(of=plan):
        return runs.ratio(even, of)

    value, samples = pairs.measured_by(context, _OVER_EVEN, ratio)
    control = controlled(_OVER_EVEN, what, ratio(bad))
    yield Measured("pipe_run_over_even", case, value, "x", _OVER_EVEN, samples, control, condition,
                   {"planned_ms": plan["iteration_ms"], "blocks": [s["end"] - s["begin"] for s in plan["stages"]]},
                   conditions)


def _half_layers(layers):
    return [pipelines.Block(2 * _MS, 4 * _MS, _MESSAGE)] * (2 * layers)


def _output(context, case, runs):
    microbatches = 16
    blocks = [*_half_layers(24), pipelines.Block(8 * _MS, 16 * _MS)]
    even = _divided(blocks, (*range(0, 48, 6), 49), microbatches)
    parts = runs.plan(blocks, microbatches, "--no-slices"), even, even, "equal layers again"
    yield from _over_even(context, case, runs, parts,
                          f"24 layers of two blocks and an output layer as long as two layers, {_STAGES} stages, "
                          f"{microbatches} micro-batches", _conditions(blocks, microbatches))


def _slow_server(context, case, runs):
    microbatches, slow, fast = 16, (0.5,) * _GPUS, (1,) * _GPUS
    blocks = _half_layers(24)
    servers = [{"name": "fast", "gpus": _GPUS, "speed": 1}, {"name": "slow", "gpus": _GPUS, "speed": 0.5}]
    plan = runs.plan(blocks, microbatches, "--no-slices", servers=servers)
    borders = tuple(range(0, 49, 6))
    even = min((_divided(blocks, borders, microbatches, speeds) for speeds in (slow + fast, fast + slow)),
               key=_simulated_ns)
    alike = runs.plan(blocks, microbatches, "--no-slices", servers=[server | {"speed": 1} for server in servers])
    bad = _divided(blocks, (*(s["begin"] for s in alike["stages"]), 48), microbatches,
                   [0.5 if s["server"] == "slow" else 1 for s in alike["stages"]])
    yield from _over_even(context, case, runs, (plan, even, bad, "a plan for servers of one speed"),
                          f"24 equal layers of two blocks, {_STAGES} stages, {microbatches} micro-batches; the kernels "
                          "of stages on one node take twice as long",
                          _conditions(blocks, microbatches, slow_server=0.5))


def _simulated_ns(plan):
    """Returns the time of a plan whose messages take no time, by the event loop."""
    stages = [(round(s["forward_ms"] * _MS), round(s["backward_ms"] * _MS), 0) for s in plan["stages"]]
    return pipelines.iteration_ns(stages, plan["microbatches"], pipelines.Link(), plan["sliced_microbatches"],
                                  plan["slice_cost"])

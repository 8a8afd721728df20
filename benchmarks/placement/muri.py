"""muri compares the simulator's Muri-S and Muri-L with the figures published for them, for 400 jobs on 64 GPUs.

Control: the same trace without any grouping, shortest remaining time first.
"""

from dataclasses import dataclass
from functools import cache

from benchmarks.placement.trace_files import MURI_CLUSTER, left_out as trace_left_out
from benchmarks.runner.results import Goal, Measured, controlled
from testing.programs import json_lines

SCOPE = "component"
GPUS = "a cluster simulated from a trace"
_GOAL = Goal("<=", 0.10)


@dataclass(frozen=True)
class Counterpart:
    """Is a published scheduler. `policy` is its name in placement_trace. `published` holds seconds, from the result
    files published with Muri (64 V100)."""

    name: str
    policy: str
    published: dict


MURI_S = Counterpart("Muri-S", "muri", {"completion_s": 117634.554467, "makespan_s": 2662548.294849})
MURI_L = Counterpart("Muri-L", "muri_l", {"completion_s": 129744.660102, "makespan_s": 2666872.437762})
_CASES = {"completion_s": (MURI_S, "completion_s"), "makespan_s": (MURI_S, "makespan_s"),
          "muri_l_completion_s": (MURI_L, "completion_s"), "muri_l_makespan_s": (MURI_L, "makespan_s")}
CASES = tuple(_CASES)
# This is eta of pods on a real Kubernetes, with every part of Crossover: the figure `chain`.
EFFICIENCY = 0.977


def left_out(case):
    """Returns why a case is left out, or "" where it is not: the trace is kept outside the tree and may be missing."""
    return trace_left_out(MURI_CLUSTER)


def measure(context, case):
    program = context.build.program("placement_trace")
    counterpart, what = _CASES[case]
    simulated, published = play(program, counterpart.policy)[what], counterpart.published[what]
    value = abs(simulated / published - 1)
    bad = abs(play(program, "shortest")[what] / published - 1)
    yield Measured("muri", case, value, "of the published figure", _GOAL, (value,),
                   controlled(_GOAL, "no grouping, shortest remaining time first", bad),
                   f"{counterpart.name}; {MURI_CLUSTER.source}, 8 nodes of 8 GPUs, Muri's own penalties",
                   {"simulated": simulated, "published": published})


@cache
def play(program, policy, *options):
    """Returns what placement_trace reports of the trace under a policy."""
    command = [program, MURI_CLUSTER.path(), policy, f"--efficiency={EFFICIENCY}", *options]
    return json_lines(command, {})[0]

"""muri: the simulator's Muri-S against the figures published for it: 400 jobs on 64 GPUs.

Control: the same trace without any grouping, shortest remaining time first.
"""

from functools import cache

from benchmarks.programs import json_lines
from benchmarks.results import Goal, Measured, controlled
from benchmarks.traces import MURI_CLUSTER, left_out as trace_left_out

SCOPE = "component"
GPUS = "a cluster simulated from a trace"
_GOAL = Goal("<=", 0.10)
# Seconds, from the result files published with Muri (64 V100).
_PUBLISHED = {"completion_s": 117634.554467, "makespan_s": 2662548.294849}
CASES = tuple(_PUBLISHED)
# eta of pods on a real Kubernetes, everything taking part: the figure `chain`.
EFFICIENCY = 0.977


def left_out(case):
    """Without the trace, which is kept outside the tree."""
    return trace_left_out(MURI_CLUSTER)


def measure(context, case):
    program = context.build.program("placement_trace")
    value = _error(case, play(program, "muri"))
    control = controlled(_GOAL, "no grouping, shortest remaining time first", _error(case, play(program, "shortest")))
    yield Measured("muri", case, value, "of the published figure", _GOAL, (value,), control,
                   f"{MURI_CLUSTER.source}, 8 nodes of 8 GPUs, Muri's own penalties",
                   {"simulated": play(program, "muri")[case], "published": _PUBLISHED[case]})


def _error(case, outcome):
    return abs(outcome[case] / _PUBLISHED[case] - 1)


@cache
def play(program, policy, *options):
    """What a policy makes of the trace."""
    command = [program, MURI_CLUSTER.path(), policy, f"--efficiency={EFFICIENCY}", *options]
    return json_lines(command, {})[0]

"""muri_ratio: the engine with Muri's powers over Muri-S; beside it, as it ships over exclusive first come first served.

With Muri's powers: it may stop and move jobs at each event, knows how long each has left, and puts up to four
together. As it ships: two together, nobody is stopped or moved, nobody knows how long a job runs.

Control: pairs of running jobs by chance, over Muri-S.
"""

from benchmarks.figures.muri import EFFICIENCY, GPUS, left_out, play
from benchmarks.results import Control, Goal, Measured
from benchmarks.traces import MURI_CLUSTER

SCOPE = "component"
CASES = ("completion_s", "makespan_s")
_GOAL = Goal("<=", 0.9999)
# No bound on waiting: what it costs is seen beside.
_NO_BOUND = "--starvation=1e18"
__all__ = ["CASES", "GPUS", "SCOPE", "left_out", "measure"]


def measure(context, case):
    program = context.build.program("placement_trace")
    outcomes = {policy: play(program, policy) for policy in ("fifo", "shortest", "random", "muri", "shipped", "powers")}
    condition = f"{MURI_CLUSTER.source}, 8 nodes of 8 GPUs, jobs reach {EFFICIENCY} of the best rate"
    random = outcomes["random"][case] / outcomes["muri"][case]
    control = Control("pairs by chance", random, not _GOAL.met_by(random))
    value = outcomes["powers"][case] / outcomes["muri"][case]
    yield Measured("muri_ratio", case, value, "of Muri-S", _GOAL, (value,), control, condition,
                   {policy: outcome[case] for policy, outcome in outcomes.items()})
    shipped = outcomes["shipped"][case] / outcomes["fifo"][case]
    unbounded = play(program, "shipped", _NO_BOUND)[case] / outcomes["fifo"][case]
    yield Measured("muri_ratio_beside", case, shipped, "of exclusive first come first served", Goal(), (shipped,), None,
                   condition + "; the engine as it ships", {"without a bound on waiting": unbounded})

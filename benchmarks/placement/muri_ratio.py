"""muri_ratio is the engine with Muri's powers over Muri-S. It is not the engine as it ships: it shows what the engine's
choices of partners are worth when all else is equal. Beside it stands the engine as it ships over exclusive first come
first served.

With Muri's powers the engine may stop and move jobs at each event, knows how long each has left, and puts up to four
together. The figure of the engine as it ships is muri_ratio_shipped.

Control: pairs of running jobs by chance, over Muri-S.
"""

from benchmarks.placement.muri import EFFICIENCY, GPUS, left_out, play
from benchmarks.placement.trace_files import MURI_CLUSTER
from benchmarks.runner.results import Goal, Measured, controlled
from testing.shipped import slots_per_gpu

SCOPE = "component"
# The longest jobs decide the makespan, whatever groups them. There no policy is held to less than another's.
_GOALS = {"completion_s": Goal("<=", 1.0), "makespan_s": Goal("<=", 1.02)}
CASES = tuple(_GOALS)
# This removes the bound on waiting. The value beside the figure shows what the bound costs.
_NO_BOUND = "--starvation=1e18"
__all__ = ["CASES", "GPUS", "SCOPE", "left_out", "measure"]


def measure(context, case):
    program = context.build.program("placement_trace")
    outcomes = {policy: play(program, policy) for policy in ("fifo", "shortest", "random", "muri", "powers")}
    condition = f"{MURI_CLUSTER.source}, 8 nodes of 8 GPUs, jobs reach {EFFICIENCY} of the best rate"
    goal, muri = _GOALS[case], outcomes["muri"][case]
    value = outcomes["powers"][case] / muri
    control = controlled(goal, "pairs by chance", outcomes["random"][case] / muri)
    yield Measured("muri_ratio", case, value, "of Muri-S", goal, (value,), control,
                   f"{condition}; the engine with Muri's powers, which it does not have as it ships",
                   {policy: outcome[case] for policy, outcome in outcomes.items()})
    slots, fifo = slots_per_gpu(), outcomes["fifo"][case]
    shipped = play(program, "shipped", f"--slots={slots}")[case] / fifo
    unbounded = play(program, "shipped", f"--slots={slots}", _NO_BOUND)[case] / fifo
    yield Measured("muri_ratio_beside", case, shipped, "of exclusive first come first served", Goal(), (shipped,), None,
                   f"{condition}; the engine as it ships, {slots} slots for each GPU",
                   {"without a bound on waiting": unbounded})

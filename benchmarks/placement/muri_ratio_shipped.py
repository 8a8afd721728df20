"""muri_ratio_shipped is the engine as it ships over Muri-L and Muri-S, on the trace of Muri's cluster experiment.

As it ships, the engine has as many slots as the chart's default says. It stops and moves no job and does not know how
long jobs run. Muri-L does not know that either, Muri-S does; both stop and move jobs. Each counterpart is the better of
what its authors published for 64 V100 and of what the simulation makes of it.

Beside it, without a goal, stands the median of traces that differ a little, each over the simulated counterpart of the
same trace. One trace is one draw.

Control: pairs of running jobs by chance.
"""

from benchmarks.placement.muri import EFFICIENCY, GPUS, MURI_L, MURI_S, left_out, play
from benchmarks.placement.trace_files import MURI_CLUSTER
from benchmarks.runner.results import Goal, Measured, controlled
from testing import stats
from testing.shipped import slots_per_gpu

SCOPE = "component"
_SHAKEN = tuple(range(1, 13))  # seeds
# Each case is (counterpart, what is compared, goal).
_CASES = {"completion_over_muri_l": (MURI_L, "completion_s", Goal("<=", 1.0)),
          "makespan_over_muri_l": (MURI_L, "makespan_s", Goal("<=", 1.02)),
          "completion_over_muri_s": (MURI_S, "completion_s", Goal("<=", 1.05)),
          "makespan_over_muri_s": (MURI_S, "makespan_s", Goal("<=", 1.04))}
CASES = tuple(_CASES)
__all__ = ["CASES", "GPUS", "SCOPE", "left_out", "measure"]


def measure(context, case):
    program = context.build.program("placement_trace")
    counterpart, what, goal = _CASES[case]
    slots = slots_per_gpu()
    simulated = play(program, counterpart.policy)[what]
    best = min(simulated, counterpart.published[what])
    value = play(program, "shipped", f"--slots={slots}")[what] / best
    control = controlled(goal, "pairs by chance", play(program, "random")[what] / best)
    condition = (f"{MURI_CLUSTER.source}, 8 nodes of 8 GPUs, {slots} slots for each GPU, jobs reach {EFFICIENCY} of "
                 "the best rate")
    others = {f"{count} slots": play(program, "shipped", f"--slots={count}")[what] / best
              for count in (2, 3, 4) if count != slots}
    yield Measured("muri_ratio_shipped", case, value, f"of {counterpart.name}", goal, (value,), control, condition,
                   {"published": counterpart.published[what], "simulated": simulated, **others,
                    "first come first served": play(program, "fifo")[what] / best})
    shaken = tuple(_shaken(program, counterpart.policy, what, slots, seed) for seed in _SHAKEN)
    yield Measured("muri_ratio_shipped_beside", case, stats.median(shaken), f"of {counterpart.name}", Goal(), shaken,
                   None, f"{condition}; {len(_SHAKEN)} traces: jobs come up to a day later, and are up to 2% longer or "
                   "shorter", {"least": min(shaken), "most": max(shaken)})


def _shaken(program, policy, what, slots, seed):
    option = f"--shake={seed}"
    return play(program, "shipped", f"--slots={slots}", option)[what] / play(program, policy, option)[what]

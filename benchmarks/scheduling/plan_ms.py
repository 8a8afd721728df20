"""plan_ms is the time of one decision of the placement engine about 1,000 waiting gangs, on GPUs for a quarter of them.

Control: 4,000 gangs at once.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing.programs import json_lines
from testing.shipped import slots_per_gpu

SCOPE = "component"
GPUS = "no GPUs"
CASES = ("same", "mixed")
_GOAL = Goal("<=", 400, "worst", runs=5)


def measure(context, case):
    program = context.build.program("placement_plan")
    slots = slots_per_gpu()
    samples = tuple(json_lines([program, seed, case, 1000, slots], {})[0]["plan_ms"] for seed in range(1, 6))
    bad = json_lines([program, 1, case, 4000, slots], {}, timeout_s=600)[0]["plan_ms"]
    yield Measured("plan_ms", case, _GOAL.of(samples), "ms", _GOAL, samples, controlled(_GOAL, "4,000 gangs", bad),
                   f"1,000 waiting gangs: all of 8 GPUs, or GPU counts as in Muri's trace; {slots} slots for each GPU; "
                   "nothing runs yet")

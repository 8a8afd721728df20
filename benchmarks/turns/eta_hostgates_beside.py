"""eta_hostgates_beside shows eta with host gates and with GPU gates: host gates must lose visibly on a launch-bound
trainer.

It stands beside eta and shows what the fallback costs. `eta_hostgates_loses` is that loss itself, which has a goal: a
fallback that costs nothing would mean that nothing was measured.
"""

from benchmarks.runner.results import Goal, Measured
from benchmarks.turns import eta
from testing import pairs

# Some 65 launches of 400 us take longer than the GPU's 20 ms. Behind a GPU gate they are made while the last iteration
# communicates and the other job computes. Behind a host gate they begin with the turn.
_LAUNCH_BOUND = pairs.Shape(0.6, launch_us=400, iterations=120)
_BY_CASE = {"launch_bound": _LAUNCH_BOUND, "c20": pairs.Shape(0.6, iterations=120)}
CASES = tuple(_BY_CASE)
GOAL = Goal("<=", 0.95)


def measure(context, case):
    shape = _BY_CASE[case]

    def one(gates):
        return eta.one(context, shape, context.build.library, [], {"CROSSOVER_GATES": gates})

    etas = {}
    for gates in ("host", "gpu"):
        etas[gates], samples = pairs.measured_by(context, Goal(), lambda: one(gates))
        yield Measured("eta_hostgates_beside", f"{case}_{gates}gates", etas[gates], "1", Goal(), samples, None,
                       shape.condition(), {}, shape.conditions(gates=gates, launch_us=shape.launch_us))
    if case == "launch_bound":
        loss = etas["host"] / etas["gpu"] if all(etas.values()) else None
        yield Measured("eta_hostgates_loses", case, loss, "of eta with GPU gates", GOAL, (loss,), None,
                       shape.condition(), {}, shape.conditions(launch_us=shape.launch_us))

"""eta_hostgates_beside: host gates on a launch-bound trainer must lose visibly against GPU gates.

Shown beside eta, without a goal: it says what the fallback costs. The library is told to use host gates.
"""

from benchmarks import evaluate, pairs, shapes
from benchmarks.commands import GRADIENT_BYTES
from benchmarks.results import Goal, Measured

# About sixty launches of some five microseconds each: a step's compute is hardly longer than its launches.
_SHAPE = pairs.Shape(0.6, compute_ms=0.8, iterations=1200, warm_up=300)
_GATES = {"launch_bound_hostgates": "host", "launch_bound_gpugates": "gpu", "c20_hostgates": "host"}
CASES = tuple(_GATES)


def measure(context, case):
    shape = pairs.Shape(0.6) if case.startswith("c20") else _SHAPE

    def one():
        alone = pairs.solo(context, shape)
        both = alone and pairs.together(context, shape, context.build.library,
                                        environment={"CROSSOVER_GATES": _GATES[case]})
        if not both:
            return None
        job = shapes.job_shape(shape.variant, alone[0], GRADIENT_BYTES, shape.early_bytes, shape.ranks,
                               shape.machine().node_link_bytes_per_s)
        return pairs.rate(shape, both, alone[0], evaluate.shared_bound([job] * 2, shape.machine())).eta

    value, samples = pairs.median_of(context, one)
    yield Measured("eta_hostgates_beside", case, value, "1", Goal(), samples, None, shape.condition())

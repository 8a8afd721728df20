"""eta_many and eta_many_shared are eta of three and four equal jobs on one set of GPUs, from the first turns on to the
end.

eta_many gives each job a link of its own. eta_many_shared has shared links, where the bound counts every job's bytes.
Control, against the shipped library, both without the guard: release after the collective.
"""

from benchmarks.runner.results import Goal, Measured
from benchmarks.turns import eta
from testing import pairs

_GOALS = {"private": Goal(">=", 0.98, "worst", runs=5), "shared": Goal(">=", 0.99, "worst", runs=5)}
_ITERATIONS = {1.0: 120, 3.0: 60}
_BY_CASE = {f"{jobs}jobs_{ratio:g}_{links}": pairs.Shape(ratio, links=links, jobs=jobs, alone=60, warm_up=15,
                                                         iterations=_ITERATIONS[ratio])
            for links in _GOALS for jobs in (3, 4) for ratio in (1.0, 3.0)}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    goal = _GOALS[shape.links]
    details = []
    value, samples = pairs.measured_by(context, goal, lambda: eta.one(context, shape, context.build.library, details))
    control = None
    if value is not None:
        control = context.controlled(goal, "release after the collective", eta.CONTROL,
                                     lambda library: eta.one(context, shape, library, []))
    yield Measured("eta_many" if shape.links == "private" else "eta_many_shared", case, value, "1", goal, samples,
                   control, shape.condition(), {"runs": details}, shape.conditions())

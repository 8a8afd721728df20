"""eta_many, eta_many_shared: eta of three and four equal jobs on one set of GPUs.

With a link of its own for each job, and on shared links, where the bound counts every job's bytes. Control: release
after the collective.
"""

from benchmarks import pairs
from benchmarks.figures import eta
from benchmarks.results import Goal, Measured, controlled

_GOALS = {"private": Goal(">=", 0.94), "shared": Goal(">=", 0.92)}
_BY_CASE = {f"{jobs}jobs_{ratio:g}_{links}": pairs.Shape(ratio, links=links, jobs=jobs, iterations=60, warm_up=25)
            for links in _GOALS for jobs in (3, 4) for ratio in (1.0, 3.0)}
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    goal = _GOALS[shape.links]
    details = []
    value, samples = pairs.median_of(context, lambda: eta.one(context, shape, context.build.library, details))
    control = controlled(goal, "release after the collective",
                         eta.one(context, shape, context.build.known_bad(eta.CONTROL), []))
    yield Measured("eta_many" if shape.links == "private" else "eta_many_shared", case, value, "1", goal, samples,
                   control, shape.condition(), {"runs": details})

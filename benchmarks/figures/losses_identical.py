"""losses_identical: every loss of every rank, bit for bit, with and without the library.

Control: a job whose seed differs stands for any corruption that reaches a loss; it must be told apart.
"""

from dataclasses import replace

from benchmarks import pairs, session
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("==", 1)
_VARIANTS = {
    "plain": {}, "one_stream": {"variant": "one_stream"}, "broadcast_buffers": {"variant": "broadcast_buffers"},
    "loss_allreduce": {"variant": "loss_allreduce"}, "accumulation": {"extra": ("--accumulation=2",)},
    "evaluation": {"extra": ("--eval-every=20",)},
}
CASES = tuple(_VARIANTS)
_SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=100)


def measure(context, case):
    jobs = tuple(replace(_SHAPE.job(name, seed), **_VARIANTS[case])
                 for seed, name in enumerate(("alpha", "beta"), 1))
    machine = _SHAPE.machine()

    def digests(chosen, library=None):
        result = context.session(session.Plan(machine, chosen, library, isolated=context.isolated))
        return result and {name: log.digest for name, log in result.jobs.items()}

    alone = {}
    for job in jobs:
        alone.update(digests((job,)) or {})
    both = digests(jobs, context.build.library)
    other = digests((replace(jobs[0], seed=3),))
    complete = both and len(alone) == 2 and all(alone.values())
    value = None if not complete else int(both == alone)
    planted = None if not other or not complete else int(other["alpha"] == alone["alpha"])
    yield Measured("losses_identical", case, value, "yes=1", GOAL, (value,),
                   controlled(GOAL, "a job of another seed", planted), f"{case}; {_SHAPE.scope()}",
                   {"digests": alone, "with_library": both})

"""losses_identical: every loss of every rank, bit for bit, with and without the library.

Control: one bit flipped on the wire, in one collective of each rank; it must be seen.
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

    def digests(chosen, library=None, environment=None):
        result = context.session(session.Plan(machine, chosen, library, isolated=context.isolated,
                                              environment=environment or {}), timed=False)
        return result and {name: log.digest for name, log in result.jobs.items()}

    alone = {}
    for job in jobs:
        alone.update(digests((job,)) or {})
    both = digests(jobs, context.build.library)
    corrupt = digests(jobs[:1], environment={"SIMGPU_NCCL_FAULT": "corrupt_byte:24"})
    complete = both and len(alone) == 2 and all(alone.values())
    value = None if not complete else int(both == alone)
    planted = None if not corrupt or not complete else int(corrupt["alpha"] == alone["alpha"])
    yield Measured("losses_identical", case, value, "yes=1", GOAL, (value,),
                   controlled(GOAL, "a bit flipped on the wire", planted), f"{case}; {_SHAPE.scope()}",
                   {"digests": alone, "with_library": both})

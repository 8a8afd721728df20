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
# Every bucket on the compute stream: more turns per iteration than are worth a hand-over each.
_OBSERVED_ONLY = {"one_stream"}
_SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=100)


def measure(context, case):
    jobs = tuple(replace(_SHAPE.job(name, seed), **_VARIANTS[case])
                 for seed, name in enumerate(("alpha", "beta"), 1))
    machine = _SHAPE.machine()

    def run(chosen, library=None, environment=None):
        return context.session(session.Plan(machine, chosen, library, isolated=context.isolated,
                                            environment=environment or {}), timed=False)

    alone = _digests(*(run((job,)) for job in jobs))
    both = run(jobs, context.build.library)
    corrupt = run(jobs[:1], environment={"SIMGPU_NCCL_FAULT": "corrupt_byte:24"})
    turns = sum(event.event == "hold" for event in both.trace) if both else 0
    # Jobs that were to take turns and merely ran side by side have shown nothing.
    took_part = (turns > 0) != (case in _OBSERVED_ONLY)
    complete = both and took_part and len(alone) == 2 and all(alone.values())
    value = int(_digests(both) == alone) if complete else None
    planted = int(_digests(corrupt)["alpha"] == alone["alpha"]) if complete and corrupt else None
    yield Measured("losses_identical", case, value, "yes=1", GOAL, (value,),
                   controlled(GOAL, "a bit flipped on the wire", planted), f"{case}; {_SHAPE.scope()}",
                   {"turns": turns, "digests": alone})


def _digests(*results):
    """By job, of all runs that took place."""
    return {name: log.digest for result in results if result for name, log in result.jobs.items()}

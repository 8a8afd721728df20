"""losses_identical tells whether every loss of every rank is the same, bit for bit, with and without the library, and
whether the user's own calls are the same too.

The jobs run on a driver that writes down each call. Controls: one bit flipped on the wire; one event wait removed; one
call left out of the record. Each must be seen.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.runner.results import Goal, Measured, controlled
from testing import faults, pairs, recorded, session

GOAL = Goal("==", 1)
_VARIANTS = {
    "plain": {}, "one_stream": {"variant": "one_stream"}, "broadcast_buffers": {"variant": "broadcast_buffers"},
    "loss_allreduce": {"variant": "loss_allreduce"}, "accumulation": {"extra": ("--accumulation=2",)},
    "evaluation": {"extra": ("--eval-every=20",)},
}
_SIGNALS = "signals"  # the plain job, whose streams wait for signals in device memory, after a while
_LASTING = {"iterations": 300}
CASES = (*_VARIANTS, _SIGNALS)
# Every bucket is on the compute stream: there are more turns per iteration than are worth a hand-over each, and no
# event waits.
_OBSERVED_ONLY = {"one_stream"}
_SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=100)
# These are the event waits of one iteration, the last of which joins the last bucket. One is removed in iteration
# _REMOVED_IN.
_WAITS = {"broadcast_buffers": 12, "loss_allreduce": 12}
_WAITS_PLAIN, _REMOVED_IN = 10, 10


def measure(context, case):
    waits = _WAITS.get(case, _WAITS_PLAIN)
    removed = None if case in _OBSERVED_ONLY else waits * _REMOVED_IN + waits - 1
    shape = replace(_SHAPE, **(_LASTING if case == _SIGNALS else _VARIANTS[case]))
    yield measured(context, "losses_identical", case, shape, removed, signals=case == _SIGNALS)


def measured(context, figure, case, shape, removed, flipped=24, signals=False):
    """Returns the line of a case. `removed` is the number of the wait that a control removes from each rank, or None
    for jobs that take no turns, and `flipped` that of the collective in which one flips a bit. With `signals` both
    jobs must take turns by signals."""
    jobs = tuple(shape.job(name, seed) for seed, name in enumerate(("alpha", "beta"), 1))

    def run(chosen, library=None, environment=None):
        return context.session(session.Plan(shape.machine(), chosen, library, isolated=context.isolated,
                                            environment=(environment or {}) | shape.environment(),
                                            daemon_settings=faults.SIGNALS if signals else (),
                                            signallers=int(signals and library is not None)), timed=False)

    with tempfile.TemporaryDirectory(prefix=f"{pairs.MARK}-") as directory:
        alone_record, both_record = (_Record(context.build, Path(directory) / name) for name in ("alone", "both"))
        alone = _digests(run(jobs[:1], environment=alone_record.environment), run(jobs[1:]))
        both = run(jobs, context.build.library, both_record.environment)
        turns = sum(event.event == "hold" for event in both.trace) if both else 0
        # Jobs that were to take turns and only ran side by side have shown nothing.
        took_part = (turns > 0) != (removed is None) and not (both and signals and len(faults.signalled(both)) < 2)
        complete = both and took_part and len(alone) == 2 and all(set(digest) - {"+"} for digest in alone.values())
        same_losses = complete and _digests(both) == alone
        calls = alone_record.calls() if complete else []
        same_calls = complete and calls == both_record.calls()
        flips = {"SIMGPU_NCCL_FAULT": f"corrupt_byte:{flipped}"}
        seen = {"a bit flipped on the wire": _seen(run(jobs[:1], environment=flips), alone)}
        if removed is not None:
            fault = {"SIMGPU_FAULT": f"drop_wait:{removed}"}
            seen["an event wait removed"] = _seen(run(jobs[:1], environment=fault), alone)
        seen["a call left out of the record"] = complete and alone_record.without_one() not in (None, calls[0])
    value = int(same_losses and same_calls) if complete else None
    return Measured(figure, case, value, "yes=1", GOAL, (value,),
                    controlled(GOAL, "; ".join(seen), 0 if all(seen.values()) else 1),
                    f"{case}{': watched only, no turns' * (removed is None)}; {shape.condition()}",
                    {"turns": turns, "digests": alone, "calls": [len(c) for c in calls], "faults_seen": seen},
                    shape.conditions(case=case))


class _Record:
    """Records what the ranks of alpha ask of the driver."""

    def __init__(self, build, directory):
        directory.mkdir()
        self._files = [directory / f"alpha.{rank}" for rank in range(_SHAPE.ranks)]
        self.environment = {"CROSSOVER_TEST_RECORD": str(directory / "{job}."),
                            "CROSSOVER_TEST_CUDA": str(build.gpu_libraries / "libcuda.so.1"),
                            "LD_LIBRARY_PATH": f"{build.recorder}:{build.gpu_libraries}"}

    def calls(self):
        return [recorded.calls(file) for file in self._files]

    def without_one(self):
        # Every variant makes this call on a stream.
        return recorded.without_one(self._files[0], "cuLaunchKernel")


def _digests(*results):
    """Returns the digest of each job, by its name, over all runs that took place."""
    return {name: log.digest for result in results if result for name, log in result.jobs.items()}


def _seen(faulty, alone):
    """Tells whether a run with a planted fault gave other losses."""
    return bool(faulty) and _digests(faulty)["alpha"] != alone.get("alpha")

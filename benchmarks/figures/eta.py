"""eta: how much of the bound's gain two equal jobs reach with GPU gates. Control: release after the collective."""

from dataclasses import replace

from benchmarks import evaluate, pairs, shapes
from benchmarks.commands import GRADIENT_BYTES
from benchmarks.results import Goal, Measured, controlled

_RATIOS = (0.2, 0.6, 1.0)
_VARIANTS = ("plain", "broadcast_buffers", "loss_allreduce")
GOAL = Goal(">=", 0.97)
CONTROL = "late_release"


def _shapes():
    for variant in _VARIANTS:
        for ratio in _RATIOS:
            yield f"{variant}_{ratio:g}", pairs.Shape(ratio, variant)
    for ratio in _RATIOS:
        yield f"beside_c5_{ratio:g}", pairs.Shape(ratio, compute_ms=5.0, ranks=2, iterations=240, warm_up=80)
    yield "beside_early_half_0.6", pairs.Shape(0.6, early_bytes=0.5)


_BY_CASE = dict(_shapes())
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape = _BY_CASE[case]
    beside = case.startswith("beside_")
    goal = Goal() if beside else GOAL
    details = []
    value, samples = pairs.median_of(context, lambda: one(context, shape, context.build.library, details))
    control, control_details = None, []
    if not beside:
        control = controlled(goal, "release after the collective",
                             one(context, shape, context.build.known_bad(CONTROL), control_details))
    yield Measured("eta_beside" if beside else "eta", case, value, "1", goal, samples, control, shape.condition(),
                   {"runs": details, **({"control_runs": control_details} if control else {})})


def one(context, shape, library, details, environment=None):
    """eta of one run: a job alone, then both. None if a run was void or the library is not there."""
    if not library.exists():
        context.voids.append(f"{library.name} is not built")
        return None
    alone = pairs.solo(context, shape)
    plain = alone
    if alone and shapes.has_small_collective(shape.variant):
        plain = pairs.solo(context, replace(shape, variant="plain"))
    both = plain and pairs.together(context, shape, library, environment=environment)
    if not both:
        return None
    job = _job(shape, alone[0], plain[0])
    shared = pairs.rate(shape, both, alone[0], evaluate.shared_bound([job] * shape.jobs, shape.machine()))
    details.append({"step_ms": alone[0].step_ms, "c_ms": alone[0].compute_ms, "bound_ms": shared.bound_ms,
                    "small_ms": job.segments[0].exposed if len(job.segments) > 1 else 0.0,
                    "plain_bound_ms": _plain_bound_ms(shape, job), "cycle_ms": shared.cycle_ms,
                    "gain": shared.gain, "turns": sum(e.event == "hold" for e in both.trace),
                    "load": both.load.as_dict()})
    return shared.eta


def _plain_bound_ms(shape, job):
    """T* if collectives held no multiprocessors."""
    return evaluate.shared_bound([job] * shape.jobs, replace(shape.machine(), nccl_ctas=0))


def _job(shape, alone, plain):
    return shapes.job_shape(shape.variant, alone, plain, GRADIENT_BYTES, shape.ranks,
                            shape.machine().node_link_bytes_per_s)

"""gain_over_mps is the work per time with turns over that of the same jobs running freely under MPS, from 10 random
starts. All of the free run counts, and the run with turns counts from the first turns on to the end. The median is held
to a goal, the least is shown beside it. Each job has 150 iterations, so the guard's first looks are in the run. In a
shorter run jobs under MPS mostly stay in the phase in which they have started.

Beside the cases that favour turns stand those that do not. They have links of their own, one and two ranks, m/c of 0.1,
kernels that gain by running at once or need part of the GPU, collectives that need much of it or suffer beside compute,
and stragglers. gain_over_mps_half_beside compares with the same jobs where MPS gives each half of the SMs
(CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50), a setting that users try first.

Control: no library on either side.
"""

from benchmarks.runner.results import Goal, Measured, controlled
from testing import pairs, stats

_STARTS = 10
_SHARED = {0.3: 1.22, 0.6: 1.48, 1.0: 1.78}
_PRIVATE = {0.3: 1.12, 0.6: 1.25, 1.0: 1.40}
_HALF = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50"}
_HALF_STARTS = 4


def _shape(ratio, **how):
    return pairs.Shape(ratio, **{"ranks": 8, "jitter": 0.05, "iterations": 150, **how})


def _cases():
    """Yields each case's name with (Shape, the goal of its median)."""
    for links, limits in (("shared", _SHARED), ("private", _PRIVATE)):
        for ratio in (0.1, 0.3, 0.6, 1.0):
            yield f"{links}_{ratio:g}", (_shape(ratio, links=links), limits.get(ratio))
    for links in ("shared", "private"):
        yield f"2ranks_{links}_0.6", (_shape(0.6, ranks=2, links=links), None)
    # One rank sends nothing: it waits for its input for as long instead.
    yield "1rank_0.6", (_shape(0.6, ranks=1, extra=("--stall-ms=12",)), None)
    for ratio in (0.3, 0.6):
        yield f"co_run_1.25_{ratio:g}", (_shape(ratio, links="private", co_run=1.25), None)
    yield "narrow_kernels_0.6", (_shape(0.6, links="private", kernel_sms="105"), None)
    yield "wide_collectives_0.6", (_shape(0.6, links="private", nccl_ctas=24), None)
    yield "slow_collectives_0.6", (_shape(0.6, links="private", collective_slowdown=0.5), None)
    yield "stragglers_0.6", (_shape(0.6, links="private", tail=0.05), None)


_BY_CASE = dict(_cases())
CASES = tuple(_BY_CASE)


def measure(context, case):
    shape, limit = _BY_CASE[case]
    goal = Goal(">=", limit, "median", runs=_STARTS)
    longest_s = (1 + shape.ratio) * shape.compute_ms / 1e3
    starts = pairs.offsets(_STARTS + 1, longest_s)
    free = [cycle_ms(context, shape, None, starts[0])]  # the control is compared with this run

    def one(offset):
        ours = cycle_ms(context, shape, context.build.library, offset)
        free.append(ours and cycle_ms(context, shape, None, offset))
        return free[-1] / ours if free[-1] else None

    draws = iter(starts[1:])
    value, samples = pairs.measured_by(context, goal, lambda: one(next(draws)), runs=_STARTS)
    control = None
    if limit is not None:
        again = free[0] and cycle_ms(context, shape, None, starts[0])
        control = controlled(goal, "no library on either side", free[0] / again if again else None)
    conditions = shape.conditions(offsets_ms=f"0 to {longest_s * 1e3:g}")
    yield Measured("gain_over_mps", case, value, "x", goal, samples, control, shape.condition(), {}, conditions)
    yield _half(context, case, shape, list(zip(starts[1:], samples, free[1:]))[:_HALF_STARTS], conditions)


def _half(context, case, shape, taken, conditions):
    """Returns the line over halves of the SMs. `taken` lists (offset, gain, free-running cycle) of some starts."""
    halves = [free and cycle_ms(context, shape, None, offset, _HALF) for offset, _, free in taken]
    gains = tuple(half and gain * half / free for (_, gain, free), half in zip(taken, halves))
    goal = Goal(">=", None, "median")
    return Measured("gain_over_mps_half_beside", case, goal.of(gains) if gains else None, "x", goal, gains, None,
                    f"{shape.condition()}, over half of the SMs each", {},
                    {**conditions, "baseline": "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50"})


def cycle_ms(context, shape, library, offset_s, environment=None):
    """Returns the mean cycle of both jobs while both run, in ms, or None where no run was valid."""
    both = pairs.together(context, shape, library, offset_s, environment)
    if both is None:
        return None
    begin, end = pairs.window(shape, both)
    return stats.mean(j.cycle_ms_within(begin, end) for j in both.jobs.values())

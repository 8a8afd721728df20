"""torch_eta is how much of the best gain two unmodified DDP jobs of PyTorch reach by turns: the sum of their rates,
each relative to the job alone, over the largest sum that GPU, links and jobs allow. torch_gain_over_mps is the work per
time of the same jobs over that of the same jobs without the library, which run freely. Both are of five starts; loading
PyTorch lets each start at another moment of the other's step. What counts begins when both jobs are warm and have had
turns, and includes what the guard tries.

PyTorch runs on stand-ins for NVIDIA's libraries and on software GPUs, whose kernels take so long that the host keeps
up. c, m and the time on the wire are the software GPU's own record of the job alone.

Beside the cases that favour turns stand those with links of their own, and one of kernels that leave most of the GPU
free: there the guard lets go of turns, and both ways may beat the bound, which lets one job compute at a time.

Control: release after the collective, against the shipped library, both without the guard.
"""

from dataclasses import dataclass, replace

from benchmarks.frameworks import frameworks, torch_pairs
from benchmarks.frameworks.torch_pairs import Pair, Program
from benchmarks.runner.results import Goal, Measured
from testing import pairs

_RUNS = 5
GOAL = Goal(">=", 0.93, "median", runs=_RUNS)
_SHOWN = Goal(">=", None, "median", runs=_RUNS)
_NEVER_SLOWER = Goal(">=", 0.98, "worst", runs=_RUNS)
_GAINS, _GAINS_MORE = (Goal(">=", least, "median", runs=_RUNS) for least in (1.10, 1.15))
_CONTROL = "late_release"
# The kernels of these batches fill the GPU, as those of real training do. Kernels of a small batch leave most of it
# free, so that two jobs gain by running at once.
_RESNET = Program("a residual network", ("--model", "convolutional", "--batch", "512"))
_TRANSFORMER = Program("a transformer", ("--batch", "256"))
_ACCUMULATING = Program("a transformer that accumulates two batches", ("--batch", "256", "--accumulate", "2"))
_COMPILED = Program("a transformer by torch.compile", ("--batch", "256", "--compile", "aot_eager"))
_NARROW = Program("a transformer of narrow kernels", ("--batch", "64"))
_PROGRAMS = {"resnet": (_RESNET, _RESNET), "transformer": (_TRANSFORMER, _TRANSFORMER),
             "resnet_transformer": (_RESNET, _TRANSFORMER), "no_sync": (_ACCUMULATING, _ACCUMULATING),
             "compile": (_COMPILED, _COMPILED)}
# These multiply the times of kernels, so that the compute of a step takes some 85 ms.
_KERNEL_SCALE = {"resnet": 50, "transformer": 50, "resnet_transformer": 50, "no_sync": 25, "compile": 50}
# Bytes per second of the links with which a job's exposed communication is about so much of its compute. It is that of
# the transformer where two different jobs meet.
_OF_TRANSFORMERS = {0.3: 133e6, 0.6: 58e6, 1.0: 33e6}
_LINKS = {"resnet": {0.3: 45e6, 0.6: 19.5e6, 1.0: 11e6}}


@dataclass(frozen=True)
class _Case:
    """One case and what it is held to."""

    pair: Pair
    eta: Goal = GOAL
    gain: Goal = _SHOWN


def _cases():
    """Yields (name, _Case)."""
    for name, programs in _PROGRAMS.items():
        for ratio, speed in _LINKS.get(name, _OF_TRANSFORMERS).items():
            pair = Pair(programs, _KERNEL_SCALE[name], speed)
            yield f"{name}_{ratio:g}", _Case(pair, GOAL, _GAINS if ratio < 0.6 else _GAINS_MORE)
            if ratio == 0.6:
                yield f"{name}_private_{ratio:g}", _Case(replace(pair, links="private"), _SHOWN, _NEVER_SLOWER)
    yield "narrow_kernels_0.6", _Case(Pair((_NARROW, _NARROW), 100, 58e6), _SHOWN, _SHOWN)


_BY_CASE = dict(_cases())
CASES = tuple(_BY_CASE)


def measure(context, case):
    pair, goal, gain_goal = _BY_CASE[case].pair, _BY_CASE[case].eta, _BY_CASE[case].gain
    with frameworks.required(context.build):
        alone = torch_pairs.alone_of(context, pair)
        runs, gains = [], []

        def one():
            runs.append(alone and torch_pairs.together(context, pair, alone, context.build.library))
            free = runs[-1] and torch_pairs.together(context, pair, alone, None)
            gains.append(free and runs[-1].gain / free.gain)
            return free and (torch_pairs.of_bound(context, runs[-1]) if goal is GOAL else runs[-1].eta)

        value, samples = pairs.measured_by(context, goal, one)
        control = None
        if value is not None and goal is GOAL:
            control = context.controlled(goal, "release after the collective", _CONTROL, lambda library:
                                         _eta(torch_pairs.together(context, pair, alone, library)))
    conditions = pair.conditions(alone) if alone else {"failed": "no valid run alone"}
    details = {"turns": [run.turns for run in runs if run], "rates": torch_pairs.median_rates([r for r in runs if r])}
    yield Measured("torch_eta", case, value, "1", goal, samples, control, pair.condition(), details, conditions)
    gains = tuple(gains)
    yield Measured("torch_gain_over_mps", case, gain_goal.of(gains), "x", gain_goal, gains, None, pair.condition(), {},
                   conditions)


def _eta(shared):
    return shared and shared.eta

"""torch_solo_overhead is what a step of an unmodified DDP job of PyTorch takes longer with the library, alone beside a
daemon. Kernels and links of the software GPU are so fast that the step is the host's time, in which each call of the
library counts. The two ways run alternately until the error is 0.007 or less (benchmarks/runner/compared.py). A case
whose error stays larger is void.

Such a job keeps all cores busy by itself, so the rule that voids runs on busy machines does not apply to it.

Control: a library whose hooks take longer by 2% of the step must miss the goal.
"""

from benchmarks.frameworks import frameworks, torch_pairs
from benchmarks.frameworks.torch_pairs import Pair, Program
from benchmarks.runner import compared
from benchmarks.runner.results import Goal, Measured, controlled

GOAL = Goal("<=", 0.01)
CASES = ("ddp",)
_ERROR = 0.007
_STEPS = 240
_PLANTED = 0.02
_SLOW_BY = "slow_by"
_TRANSFORMER = Program("a transformer")
_PAIR = Pair((_TRANSFORMER, _TRANSFORMER), 1, 10e9)
_CONDITION = f"{_TRANSFORMER.name}, two ranks on one node, kernels x 1, links 10 GB/s, {_STEPS} steps"


def measure(context, case):
    library, slow = context.build.native_library, context.build.known_bad(_SLOW_BY)
    if not (context.has(library) and context.has(slow)):
        return
    with frameworks.required(context.build):
        step_s, kernels = torch_pairs.host_step(context.build, _PAIR, _STEPS)
        planted = (("CROSSOVER_TEST_SLOW_NS", str(round(_PLANTED * step_s / kernels * 1e9))),)
        ways = {"none": (None, ()), "library": (library, ()), "planted": (slow, planted)}

        def run(way):
            return torch_pairs.host_step(context.build, _PAIR, _STEPS, *ways[way])[0]

        found = {way: compared.compare(run, way, "none", _ERROR) for way in ("library", "planted")}
    for way, one in found.items():
        context.say(f"    {way}: {one.ratio:.4f} +- {one.error:.4f}, {len(one.samples)} pairs")
    blind = [f"{way}: the error is {one.error:.4f} after {len(one.samples)} pairs, expected {_ERROR} or less"
             for way, one in found.items() if one.error > _ERROR]
    context.voids.extend({"case": case, "why": why} for why in blind)
    value, control = (None if blind else found[way].ratio - 1 for way in ("library", "planted"))
    said = {way: {"ratio": one.ratio, "error": one.error, "pairs": len(one.samples)} for way, one in found.items()}
    conditions = {"kind": "program", "what": f"{_CONDITION}; {step_s * 1e3:.2f} ms and {kernels:.0f} kernels of a rank "
                                             "in a step"}
    yield Measured("torch_solo_overhead", case, value, "1", GOAL, found["library"].samples,
                   controlled(GOAL, f"hooks that take {_PLANTED:.0%} of the step more", control), _CONDITION,
                   {"found": said}, conditions)

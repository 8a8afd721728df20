"""gpu_suite counts the lacks of a machine with which the suite for real GPUs (benchmarks/gpu/run) ends with a whole
table. It runs on the software GPU, with a stand-in for each lack. A table is whole if all that the machine has is
measured, and each figure that cannot be measured has a line that says why: each promise of each part that was run is
kept. Under three lacks the first ten minutes are run, too. One lack is a part that reaches its limit within a figure.

gpu_suite_lack is whether the table was whole, for each lack.

Control: the suite as it was before it promised that, on the same machines.
"""

from benchmarks.quality import suite_lacks
from benchmarks.runner.results import Goal, Measured, controlled

GOAL = Goal("==", len(suite_lacks.LACKS))
_WHOLE = Goal("==", 1)
SCOPE = "component"
CASES = ("lacks",)
_OLD = "a261eb0"  # its lacks ended a part or the run


def measure(context, case):
    found, older = {}, {}
    with suite_lacks.tree_of(_OLD) as tree:
        for lack in suite_lacks.LACKS:
            found[lack.name] = suite_lacks.play(lack, context.build.top).faults
            older[lack.name] = suite_lacks.play(lack, context.build.top, tree, newer=False).faults
            context.say(f"    {lack.name}: {found[lack.name] or 'whole'}")
            context.say(f"      revision {_OLD}: {older[lack.name] or 'whole'}")
    for lack in suite_lacks.LACKS:
        whole = int(not found[lack.name])
        yield Measured("gpu_suite_lack", f"{case}_{lack.name}", whole, "whole=1", _WHOLE, (whole,), None,
                       f"the suite on the software GPU: {lack.what}",
                       {"missing": found[lack.name], f"missing_at_{_OLD}": older[lack.name]})
    yield Measured("gpu_suite", case, _whole(found), f"whole tables of {len(found)}", GOAL, (_whole(found),),
                   controlled(GOAL, f"the suite of revision {_OLD}", _whole(older)),
                   f"the suite on the software GPU, with each of {len(found)} lacks")


def _whole(faults):
    return sum(not each for each in faults.values())

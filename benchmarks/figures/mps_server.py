"""mps_server counts moments at which a node's slots are given out though MPS takes no client, at which a running pod is
not told of it, or at which no slots are given out once MPS is well again: 20 random moments of each kind.

Kinds: the server is in FAULT; its process is stopped; the control daemon is stopped; no server can start; the server is
killed; the control daemon is gone. All moments of a kind are on one node, and its daemon is never started anew.

Controls: a node daemon that is told that MPS is well; one that asks for no server; one that does not look at MPS.
"""

import random

from benchmarks import mps_node
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = tuple(mps_node.KINDS)
_MOMENTS, _CONTROL_MOMENTS = 20, 2
_SEED = 31


def measure(context, case):
    kind = mps_node.KINDS[case]
    wrong = mps_node.play(context.build, case, random.Random(f"{case} {_SEED}"), _MOMENTS)
    what, settings = mps_node.CONTROLS[case]
    blind = mps_node.play(context.build, case, random.Random(f"{case} control"), _CONTROL_MOMENTS, **settings)
    bad, seen = (sum(map(bool, moments)) for moments in (wrong, blind))
    context.say(f"    {bad} of {_MOMENTS} wrong: {[w for w in wrong if w]}; {what}: {blind}")
    condition = f"slots given out again within {kind.recovered_s:g} s of the end of it"
    if kind.withheld_s:
        condition = f"slots withheld within {kind.withheld_s:g} s, " + condition
    yield Measured("mps_server", case, bad, f"moments of {_MOMENTS}", GOAL, (bad,), controlled(GOAL, what, seen),
                   condition, {"wrong": wrong, "control_saw": blind})

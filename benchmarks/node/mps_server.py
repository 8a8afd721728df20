"""mps_server counts moments at which a node's slots are given out though MPS takes no client, at which a running pod is
not told of it, or at which no slots are given out once MPS is well again: 20 random moments of each kind. In the first
moment and each seventh from there the fault lasts for 12 s more, and no slot may be given out meanwhile.

Kinds: the server is in FAULT; its process is stopped; the control daemon is stopped; no server can start; the server is
killed; the control daemon is gone. All moments of a kind are on one node, and its daemon is never started anew.

Where the server is killed there is nothing to withhold: the control daemon starts another for the next client, so MPS
takes clients all along. The pods must be told, as their programs have failed, and the node must have a server again
without a client that asks for one.

Controls: the node daemon of a revision that did not look at MPS's server; and today's daemon, which differs in one
thing: it is told that MPS is well, its orders to start a server are swallowed, or it looks at another control daemon.
"""

import random

from benchmarks.node import mps_node
from benchmarks.runner import older_daemon
from benchmarks.runner.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
SCOPE = "component"
CASES = tuple(mps_node.KINDS)
_MOMENTS, _CONTROL_MOMENTS = 20, 2
_SEED = 31
_OLD = "a261eb0"


def measure(context, case):
    kind = mps_node.KINDS[case]
    wrong = mps_node.play(context.build, case, random.Random(f"{case} {_SEED}"), _MOMENTS)
    bad = sum(map(bool, wrong))
    context.say(f"    {bad} of {_MOMENTS} wrong: {[words for words in wrong if words]}")
    old = (f"the node daemon of revision {_OLD}", {"daemon": older_daemon.daemon_of(_OLD, context.build)})
    seen = {}
    for what, settings in (old, mps_node.BLINDED[case]):
        seen[what] = mps_node.play(context.build, case, random.Random(f"{case} control"), _CONTROL_MOMENTS, **settings)
        context.say(f"      {what}: {seen[what]}")
    condition = f"pods told, slots given out again within {kind.recovered_s:g} s of the end of it"
    if kind.withheld_s:
        condition = f"slots withheld within {kind.withheld_s:g} s, " + condition
    yield Measured("mps_server", case, bad, f"moments of {_MOMENTS}", GOAL, (bad,),
                   tuple(controlled(GOAL, what, sum(map(bool, moments))) for what, moments in seen.items()),
                   condition, {"wrong": wrong, "control_saw": seen})

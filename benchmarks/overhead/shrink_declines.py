"""shrink_declines counts the calls of a job that change though nothing is to be gained: its owner asked for q8, and its
ranks are not on nodes between which 8 bits save anything. Each call of the job then reaches NCCL as it was made, in its
order. What the ranks agree by, one all-gather while the communicator is made, is not the job's call, and is counted
beside.

one_node    all ranks on one node: there is no slow link
unequal     three ranks on two nodes
scattered   ranks that do not follow each other: nodes 0, 1, 0, 1

Control: the same number of ranks on nodes that suit, whose calls do change.

Calls with bf16 are not counted. They are narrowed wherever the owner asks for it, also on one node, in jobs with m/c
below 1 and in watched jobs: bf16 is an explicit word, and `changed_by_bf16` says how many calls that is on one node.
The level that looks at m/c is `auto`. Where the extender chooses that calls pass, none changes, on any nodes: that is a
case of shrink_absent.
"""

import difflib

from benchmarks.runner.results import Goal, Measured, controlled
from testing.shrink import calls
from testing.shrink.job import RankSettings

SCOPE = "component"
GPUS = "software GPUs"
# These are the node of each rank, where it declines, and where it does not.
_NODES = {"one_node": ((0, 0), (0, 1)), "unequal": ((0, 0, 1), (0, 1, 2)), "scattered": ((0, 1, 0, 1), (0, 0, 1, 1))}
CASES = tuple(_NODES)
_GOAL = Goal("==", 0)
_IN_WORDS = {"one_node": "ranks on one node", "unequal": "2 ranks on one node and 1 on another",
             "scattered": "ranks that do not follow each other"}
_TOTALS = ("kernels", "received")  # lines of calls.of_job() that are no calls


def measure(context, case):
    declining, suitable = _NODES[case]
    changed, added = _compared(context.build, "q8", declining)
    bad, _ = _compared(context.build, "q8", suitable)
    remarks = {"added_while_made": added}
    if case == "one_node":
        remarks["changed_by_bf16"], _ = _compared(context.build, "bf16", declining)
    context.say(f"    {changed} calls changed, {remarks}; on nodes that suit: {bad}")
    yield Measured("shrink_declines", case, changed, "calls changed", _GOAL, (changed,),
                   controlled(_GOAL, f"nodes {', '.join(map(str, suitable))}", bad),
                   f"q8, {_IN_WORDS[case]}, all-reduces of several types and sizes, in and outside groups and graphs",
                   remarks, {"kind": "program"})


def _compared(build, level, nodes):
    """Returns (calls changed, calls added) on all ranks of a job."""
    without = calls.of_job(build, calls.WITHOUT, nodes)
    asked = calls.of_job(build, RankSettings(shrink=level), nodes)
    found = [compared(without[rank], asked[rank]) for rank in without]
    return sum(changed for changed, _ in found), sum(added for _, added in found)


def compared(without, asked):
    """Returns (calls changed, calls added in front of the first one) of one rank. Both arguments are its lines of
    calls.of_job(). A call is changed if it is missing, in another order, of another type or count, or behind the first
    call of the job and not one of its calls."""
    plain, own = ([line for line in lines if not line.startswith(_TOTALS)] for lines in (without, asked))
    added = max(0, len(own) - len(plain))
    if own[added:] == plain:
        return 0, added
    return sum(line[0] in "+-" for line in difflib.ndiff(plain, own)), 0

"""fault_matrix counts rounds with wrong losses, hangs, missing turns or degradation that no message tells, out of 20 at
random moments for each kind of fault.

Control: the driver leaves out a wait of the user's, which must be seen in the losses.
"""

from dataclasses import replace

from benchmarks.runner.results import Goal, Measured, controlled
from testing import faults

GOAL = Goal("==", 0)
CASES = tuple(name.replace(" ", "_") for name in faults.ROWS)
_MOMENTS = 20
_CONTROL = ("waits left out", faults.CONTROL, "losses")


def measure(context, case):
    yield measured(context, "fault_matrix", case, faults.ROWS[case.replace("_", " ")], _CONTROL)


def measured(context, figure, case, fault, control, **conditions):
    """Returns the line of a fault. `control` is (what it is, its fault, a word of how it is noticed)."""
    wrong = {}
    for seed in range(_MOMENTS):
        found = faults.play(context.build, fault, seed)
        if found:
            wrong[seed] = found
            context.say(f"    moment {seed}: {found}")
    what, bad, word = control
    seen = faults.play(context.build, bad, 0)
    return Measured(figure, case, len(wrong), f"bad rounds of {_MOMENTS}", GOAL, (len(wrong),),
                    controlled(GOAL, what, int(word in seen)), fault.name, {"wrong": wrong, "control": seen},
                    replace(faults.SHAPE, **fault.shape).conditions(fault=fault.name, **conditions))

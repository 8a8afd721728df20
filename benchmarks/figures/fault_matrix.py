"""fault_matrix counts rounds with wrong losses, hangs, missing turns or degradation that no message tells, out of 20 at
random moments for each kind of fault.

Control: the driver leaves out a wait of the user's, which must be seen in the losses.
"""

from dataclasses import replace

from benchmarks import faults
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
CASES = tuple(name.replace(" ", "_") for name in faults.ROWS)
_MOMENTS = 20


def measure(context, case):
    yield measured(context, "fault_matrix", case, faults.ROWS, faults.CONTROL)


def measured(context, figure, case, rows, control, **conditions):
    """Returns the line of a case: a row of `rows`, held against the fault `control`."""
    fault = rows[case.replace("_", " ")]
    wrong = {}
    for seed in range(_MOMENTS):
        found = faults.play(context.build, fault, seed)
        if found:
            wrong[seed] = found
            context.say(f"    moment {seed}: {found}")
    seen = faults.play(context.build, control, 0)
    return Measured(figure, case, len(wrong), f"bad rounds of {_MOMENTS}", GOAL, (len(wrong),),
                    controlled(GOAL, "a wait left out", int("losses" in seen)), fault.name, {"wrong": wrong},
                    replace(faults.SHAPE, **fault.shape).conditions(fault=fault.name, **conditions))

"""fault_matrix_ipc is fault_matrix of jobs whose streams wait for signals in device memory: rounds with wrong losses,
hangs, missing turns or degradation that no message tells, out of 20 at random moments for each kind of fault. Among the
faults are those of the signallers, which write the signals.

Control: the driver leaves out a wait of the user's, which must be seen in the losses.
"""

from dataclasses import replace

from benchmarks import faults, signal_faults
from benchmarks.results import Goal, Measured, controlled

GOAL = Goal("==", 0)
CASES = tuple(name.replace(" ", "_") for name in signal_faults.ROWS)
_MOMENTS = 20


def measure(context, case):
    fault = signal_faults.ROWS[case.replace("_", " ")]
    wrong = {}
    for seed in range(_MOMENTS):
        found = faults.play(context.build, fault, seed)
        if found:
            wrong[seed] = found
            context.say(f"    moment {seed}: {found}")
    seen = faults.play(context.build, signal_faults.CONTROL, 0)
    yield Measured("fault_matrix_ipc", case, len(wrong), f"bad rounds of {_MOMENTS}", GOAL, (len(wrong),),
                   controlled(GOAL, "a wait left out", int("losses" in seen)), fault.name, {"wrong": wrong},
                   replace(faults.SHAPE, **fault.shape).conditions(fault=fault.name, signallers=fault.signallers))

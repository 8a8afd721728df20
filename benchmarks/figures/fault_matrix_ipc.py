"""fault_matrix_ipc is fault_matrix of jobs whose streams wait for signals in device memory. Among the faults are those
of the signallers, which write the signals.

Control: that of fault_matrix.
"""

from benchmarks import signal_faults
from benchmarks.figures import fault_matrix

CASES = tuple(name.replace(" ", "_") for name in signal_faults.ROWS)


def measure(context, case):
    signallers = signal_faults.ROWS[case.replace("_", " ")].signallers
    yield fault_matrix.measured(context, "fault_matrix_ipc", case, signal_faults.ROWS, signal_faults.CONTROL,
                                signallers=signallers)

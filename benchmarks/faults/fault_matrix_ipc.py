"""fault_matrix_ipc is fault_matrix of jobs whose streams wait for signals in device memory. Among the faults are those
of the signallers, which write the signals.

Control: that of fault_matrix; of one row a signaller that follows no page, of another a client that goes in by its
signal alone.
"""

from benchmarks.faults import fault_matrix, signal_faults

CASES = tuple(name.replace(" ", "_") for name in signal_faults.ROWS)


def measure(context, case):
    name = case.replace("_", " ")
    fault = signal_faults.ROWS[name]
    yield fault_matrix.measured(context, "fault_matrix_ipc", case, fault, signal_faults.control_of(name),
                                signallers=fault.signallers)

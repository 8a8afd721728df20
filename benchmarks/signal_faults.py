"""Lists the faults of fault_matrix_ipc: those of fault_matrix in which GPU gates take part, of jobs whose streams wait
for signals in device memory, and those of signallers themselves."""

import signal
from dataclasses import replace

from benchmarks import faults, session, transports
from benchmarks.faults import Fault


def _of_gpu_gates(row):
    """Returns whether GPU gates take part in a row."""
    return row.takes_turns and not row.impostor and "CROSSOVER_GATES" not in row.environment


def _signaller(running, draw, number=0):
    """Returns the name of a random GPU's signaller."""
    return session.signaller_name(draw.randrange(running.machine.nodes), draw.randrange(running.machine.gpus_per_node),
                                  number)


def _kill(running, draw):
    faults.under_way(running, draw)
    running.processes.signal(_signaller(running, draw), signal.SIGKILL)


def _stop_for_3s(running, draw):
    faults.under_way(running, draw)
    faults.stop_for(running, [_signaller(running, draw)], 3.0)


def _kill_with_arbiter(running, draw):
    """Kills the signaller and the arbiter of one GPU, and starts both anew."""
    faults.under_way(running, draw)
    node, gpu = draw.randrange(running.machine.nodes), draw.randrange(running.machine.gpus_per_node)
    for name in draw.sample((f"arbiter{node}", session.signaller_name(node, gpu)), 2):
        running.processes.signal(name, signal.SIGKILL)
    running.restart_arbiter(node)
    running.start_signaller(node, gpu)


def _once_signalled(strike):
    """Returns a strike that comes once all clients take turns by signals."""
    def struck(running, draw):
        transports.await_signals(running, len(running.plan.jobs) * running.machine.ranks)
        if strike:
            strike(running, draw)
    return struck


# Jobs that outlast a signaller that is stopped for three seconds.
_LONG = {"iterations": 240}
_OF_SIGNALLERS = (
    Fault("a signaller is killed", strike=_kill),
    Fault("a signaller is killed beside one that stands ready", signallers=2, strike=_kill),
    Fault("a signaller is stopped for 3 s", strike=_stop_for_3s, shape=_LONG),
    Fault("a signaller and its arbiter are killed and started again", strike=_kill_with_arbiter),
    Fault("two hardware queues", {"SIMGPU_FAULT": "queues:2"}, neighbour={"SIMGPU_FAULT": "queues:2"}),
    Fault("a signaller is killed beside two hardware queues", {"SIMGPU_FAULT": "queues:2"},
          neighbour={"SIMGPU_FAULT": "queues:2"}, strike=_kill),
    Fault("an import is refused", {"SIMGPU_FAULT": "import_fails"}),
    Fault("one job has host words", neighbour={"CROSSOVER_GATES": "gpu"}),
)
# In these rows not all clients take turns by signals.
_WITHOUT = {"memory operations unsupported", "host registration refused",
            "memory operations refused from some moment on", "an import is refused", "one job has host words"}


def _row(row):
    signalled = {} if row.name in _WITHOUT else {"strike": _once_signalled(row.strike)}
    return replace(row, signallers=max(1, row.signallers), **signalled)


ROWS = {row.name: _row(row) for row in (*filter(_of_gpu_gates, faults.ROWS.values()), *_OF_SIGNALLERS)}
CONTROL = replace(faults.CONTROL, signallers=1)

"""Lists the faults of fault_matrix_ipc. The jobs wait for signals in device memory. The faults are those that
fault_matrix has for jobs with GPU gates, and those of the signallers."""

import signal
from dataclasses import replace

from benchmarks import faults, session, transports
from benchmarks.faults import Fault


def _of_gpu_gates(row):
    """Returns whether the jobs of a row take turns by GPU gates."""
    return row.takes_turns and not row.impostor and "CROSSOVER_GATES" not in row.environment


def _signaller(running, draw, number=0):
    """Returns the name of a random GPU's signaller."""
    return session.signaller_name(draw.randrange(running.machine.nodes), draw.randrange(running.machine.gpus_per_node),
                                  number)


def _once_signalled(running, draw):
    """Waits until all clients take turns by signals, and then for some random moment."""
    transports.await_signals(running, len(running.plan.jobs) * running.machine.ranks)
    faults.under_way(running, draw)


def _kill(running, draw):
    _once_signalled(running, draw)
    running.processes.signal(_signaller(running, draw), signal.SIGKILL)


def _stop_for_3s(running, draw):
    _once_signalled(running, draw)
    faults.stop_for(running, [_signaller(running, draw)], 3.0)


def _kill_with_arbiter(running, draw):
    """Kills the signaller and the arbiter of one GPU, and starts both anew."""
    _once_signalled(running, draw)
    node, gpu = draw.randrange(running.machine.nodes), draw.randrange(running.machine.gpus_per_node)
    for name in draw.sample((f"arbiter{node}", session.signaller_name(node, gpu)), 2):
        running.processes.signal(name, signal.SIGKILL)
    running.restart_arbiter(node)
    running.start_signaller(node, gpu)


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
# In these rows not both jobs take turns by signals.
_WITHOUT = {"memory operations unsupported", "host registration refused", "an import is refused",
            "one job has host words"}
# These rows differ, so that both jobs take turns by signals before the fault. On one hardware queue the proof of the
# path stands behind the job's own work.
_LATER = {"one hardware queue": {"shape": _LONG},
          "exit in the midst of launches": {"shape": _LONG, "extra": ("--leave-after=120", "--leave=launching")},
          "exec in the midst of launches": {"shape": _LONG, "extra": ("--start-over-after=120",)}}


def _row(row):
    return replace(row, signallers=max(1, row.signallers), signalled=row.name not in _WITHOUT,
                   **_LATER.get(row.name, {}))


ROWS = {row.name: _row(row) for row in (*filter(_of_gpu_gates, faults.ROWS.values()), *_OF_SIGNALLERS)}
CONTROL = replace(faults.CONTROL, signallers=1)

"""Lists the faults of fault_matrix_ipc. The jobs wait for signals in device memory. The faults are those that
fault_matrix has for jobs with GPU gates, and those of the signallers."""

import re
import signal
from dataclasses import replace

from testing import faults, session, transports
from testing.faults import Fault
from testing.processes import Failed, await_true

_PATIENCE_S = 20.0


def _of_gpu_gates(row):
    """Returns whether the jobs of a row take turns by GPU gates."""
    return row.takes_turns and not row.impostor and "CROSSOVER_GATES" not in row.environment


def _signaller(running, draw):
    """Returns the name of the process that signals on a random GPU. Others may stand ready for it."""
    node, gpu = draw.randrange(running.machine.nodes), draw.randrange(running.machine.gpus_per_node)
    uuid = running.machine.uuid(node, gpu)
    pid = int(re.findall(rf"gpu {uuid}: process (\d+) is its signaller", running.arbiter_words(node))[-1])
    names = [session.signaller_name(node, gpu, number) for number in range(running.plan.signallers)]
    return next(name for name in names if running.pid_on_node(name) == pid)


def _clients(running):
    """Returns how many clients there are before a strike."""
    return len(running.plan.early) * running.machine.ranks


def _once_signalled(running, draw):
    """Waits until all clients take turns by signals, and then for some random moment."""
    transports.await_signals(running, _clients(running))
    faults.under_way(running, draw)


def _kill(running, draw):
    _once_signalled(running, draw)
    running.processes.signal(_signaller(running, draw), signal.SIGKILL)


def _kill_and_see_the_next(running, draw):
    """Kills the process that signals on a GPU. All clients must be by signals once the next one has taken over, which
    their arbiter says."""
    _kill(running, draw)
    await_true("another process to be a signaller", lambda: sum(
        running.arbiter_words(node).count("is its signaller") for node in range(running.machine.nodes))
        > len(list(_signallers(running))), _PATIENCE_S)
    transports.await_signals(running, _clients(running))


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


def _signallers(running):
    """Yields (node, GPU) of each signaller that works; those that stand ready are not among them."""
    for node in range(running.machine.nodes):
        for gpu in range(running.machine.gpus_per_node):
            yield node, gpu


def _replace_those_that_ended(running, draw):
    """Waits until each signaller has ended by its fault, starts sound ones, and waits until signals are in use."""
    for node, gpu in _signallers(running):
        name = session.signaller_name(node, gpu)
        await_true(f"{name} to end", lambda name=name: not running.processes.alive(name), _PATIENCE_S)
        running.start_signaller(node, gpu)
    _once_signalled(running, draw)


def _give_memory(running, draw):
    """Replaces signallers that get no memory of their GPUs, after clients have heard of it."""
    faults.under_way(running, draw)
    wrong = transports.not_by("gpu", transports.seen_by(running), _clients(running))
    if wrong:
        raise Failed(f"while signallers have no memory, {wrong}")
    for node, gpu in _signallers(running):
        running.processes.signal(session.signaller_name(node, gpu), signal.SIGKILL)
        running.start_signaller(node, gpu)
    _once_signalled(running, draw)


def _mps_fails(break_server):
    """Returns a strike that breaks MPS's server on all nodes while signals are in use. The jobs lose their contexts, as
    they would alone, and end. Two more jobs then run."""
    def strike(running, draw):
        _once_signalled(running, draw)
        for node in range(running.machine.nodes):
            break_server(running, node)
        running.end_jobs([job.name for job in running.plan.early])
        for node in range(running.machine.nodes):
            await_true("no client of MPS", lambda node=node: not running.mps.clients(node), _PATIENCE_S)
        for name in running.plan.late:
            running.start_late(name)
        ended = [name for name in (session.signaller_name(*place) for place in _signallers(running))
                 if not running.processes.alive(name)]
        if ended:
            raise Failed(f"signallers have ended with MPS: {', '.join(ended)}")
    return strike


def _hit(running, node):
    running.mps.ask(node, f"simgpu_fault {running.mps.ask(node, 'get_server_list')} hits")


def _replace_signallers_and_arbiters(running, draw):
    """Kills all signallers and, once no client takes turns by signals, all arbiters, and starts both anew: each client
    is offered memory that it has not imported. Two deaths at the same instant are another matter (record 0054)."""
    _once_signalled(running, draw)
    for node, gpu in _signallers(running):
        running.processes.signal(session.signaller_name(node, gpu), signal.SIGKILL)
    transports.await_counts(running, {"gpu": _clients(running)})
    for node in range(running.machine.nodes):
        running.processes.signal(f"arbiter{node}", signal.SIGKILL)
    for node in range(running.machine.nodes):
        running.restart_arbiter(node)
    for node, gpu in _signallers(running):
        running.start_signaller(node, gpu)


# On a busy machine signals come after a hundred of these, and a signaller may be stopped for three seconds.
_LONG = {"iterations": 240}
_IMPORTS = "expected memory that the driver imports"
_OF_SIGNALLERS = (
    Fault("a signaller is killed", strike=_kill, one_holder=True),
    Fault("a signaller is killed beside one that stands ready", signallers=2, strike=_kill_and_see_the_next,
          one_holder=True),
    Fault("a signaller is stopped for 3 s", strike=_stop_for_3s, one_holder=True),
    Fault("a signaller and its arbiter are killed and started again", strike=_kill_with_arbiter),
    Fault("signallers lose their contexts", signaller_environment={"SIMGPU_FAULT": "copies_break:20"},
          strike=_replace_those_that_ended, one_holder=True),
    Fault("signallers get no memory at their start", signaller_environment={"SIMGPU_FAULT": "no_memory"},
          strike=_give_memory, one_holder=True),
    Fault("two hardware queues", one_holder=True),
    Fault("an import is refused", {"SIMGPU_FAULT": "import_fails"}, says=_IMPORTS, one_holder=True),
    Fault("imports are refused from some moment on", {"SIMGPU_FAULT": "import_fails:1"}, says=_IMPORTS, most_lines=3,
          strike=_replace_signallers_and_arbiters),
    Fault("one job has host words", neighbour={"CROSSOVER_GATES": "gpu"}, one_holder=True),
    Fault("copies of signallers wait for a time slice", mps=True, one_holder=True,
          shape={"unkind": (("outside_copy_us", 2000),)}),
    Fault("GPUs are for the server of MPS alone", mps=True, one_holder=True,
          shape={"unkind": (("compute_mode", "exclusive_process"),)}),
    Fault("a server of MPS is in FAULT", mps=True, later=True, strike=_mps_fails(_hit)),
    Fault("a server of MPS is killed", mps=True, later=True, strike=_mps_fails(
        lambda running, node: running.mps.kill_server(node))),
)
# In these rows not both jobs take turns by signals.
_WITHOUT = {"memory operations unsupported", "host registration refused", "an import is refused",
            "one job has host words", "GPUs are for the server of MPS alone"}
# These rows differ, so that both jobs take turns by signals before the fault. On one hardware queue the proof of the
# path stands behind the job's own work.
_LATER = {"memory operations refused from some moment on": {"environment": {"SIMGPU_FAULT": "memops_fail:200"}},
          "a wait of ours fails on the GPU": {"environment": {"SIMGPU_FAULT": "memops_break:200"}},
          "a release of ours fails on the GPU": {"environment": {"SIMGPU_FAULT": "memops_break:201"}},
          "exit in the midst of launches": {"extra": ("--leave-after=200", "--leave=launching")},
          "exec in the midst of launches": {"extra": ("--start-over-after=200",)}}


def _row(row):
    """Returns the row with signallers, and with jobs that outlast its strike, which comes once all take turns by
    signals."""
    row = replace(row, signallers=max(1, row.signallers), signalled=row.name not in _WITHOUT,
                  **_LATER.get(row.name, {}))
    row = replace(row, shape={**_LONG, **row.shape})
    if row.name not in faults.ROWS:
        return replace(row, environment=_on_two_queues(row.environment), neighbour=_on_two_queues(row.neighbour))
    return replace(row, strike=_after_signals(row.strike)) if row.strike else row


def _on_two_queues(environment):
    """Returns the environment of a job with two hardware queues for each process."""
    others = environment.get("SIMGPU_FAULT")
    return {**environment, "SIMGPU_FAULT": f"{others},{faults.TWO_QUEUES}" if others else faults.TWO_QUEUES}


def _after_signals(strike):
    """Returns a strike that waits until all clients take turns by signals."""
    def later(running, draw):
        transports.await_signals(running, _clients(running))
        strike(running, draw)
    return later


ROWS = {row.name: _row(row) for row in (*filter(_of_gpu_gates, faults.ROWS.values()), *_OF_SIGNALLERS)}


def _deaf(row):
    """Returns the row with signallers that follow no page. On two hardware queues its jobs stop for good: the
    library's own copy stands behind the wait that it is to end."""
    return replace(row, signaller="crossover-signaller-deaf")


def _by_signal_alone(row):
    """Returns the row with clients that go in by their signals alone."""
    return replace(row, library="signal_alone")


# Each control is one of these: what it is, the fault, and a word of how it is noticed.
_WAITS_LEFT_OUT = ("waits left out", replace(faults.CONTROL, signallers=1), "losses")
_CONTROLS = {
    "a signaller is killed": ("a client that goes in by its signal alone",
                              _by_signal_alone(ROWS["a signaller is killed"]), "at once"),
    "two hardware queues": ("a signaller that follows no page", _deaf(ROWS["two hardware queues"]), "still runs"),
}


def control_of(name):
    """Returns (what it is, the fault, a word of how it is noticed) of a row's control."""
    return _CONTROLS.get(name, _WAITS_LEFT_OUT)

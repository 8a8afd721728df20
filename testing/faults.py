"""Plays rounds of faults. Two jobs take turns, and one of them has a fault or something is done to it. Its neighbour
must not suffer; nor must the job itself, if it can go on.

Each round checks that every process that can end does end, with the losses that it has alone, and says in at most one
line what is degraded. Both jobs must have taken turns, unless the fault makes that impossible.
"""

import contextlib
import random
import re
import signal
import time
from dataclasses import dataclass, field, replace

from testing import cgroups, impostor, logs, pairs, session, transports, wire
from testing.processes import Failed

SHAPE = pairs.Shape(0.6, compute_ms=10.0, iterations=80)
# Settings of a daemon that offers signals. Without the guard jobs take turns to their end, so that a fault meets them.
SIGNALS = ("transport: ipc", "guard: off")
# MPS gives a client two hardware queues. A copy of the library's own may stand behind the wait that it must end.
TWO_QUEUES = "queues:2"
_BY_SIGNALS = transports.TRANSPORTS["ipc"]
_MARK = "crossover-fault"
# On a busy machine an arbiter that looks at its words in turn may stand still for most of a turn meanwhile.
_LONGEST_LOOK_MS = 8.0
_UNLIKE = "other ranks of this job take turns, and this one does not"


@dataclass(frozen=True)
class Fault:
    """One fault. The job that has it is the second, beta."""

    name: str
    environment: dict = field(default_factory=dict)  # of the job with the fault
    rank: int = None  # the only rank with that environment; None: all
    extra: tuple = ()  # arguments of its trainer
    unhooked: int = None  # a rank without the library
    shape: dict = field(default_factory=dict)  # of the machine and of both jobs
    impostor: str = ""  # what the job finds instead of an arbiter: see impostor.WAYS
    preload: str = ""  # a library of the tests, preloaded in all processes
    signallers: int = 0  # for each GPU; the daemons then offer signals in device memory
    signalled: bool = True  # with signallers: both jobs take turns by signals for a while
    signaller: str = "crossover-signaller"  # their program
    signaller_environment: dict = field(default_factory=dict)  # of those that start with the jobs
    mps: bool = False  # the jobs are clients of a control daemon of MPS
    one_holder: bool = False  # no two clients may have a turn at once, by what the arbiters saw
    library: str = ""  # a known-bad library for both jobs
    later: bool = False  # both jobs are ended by `strike`, which then starts two more, gamma and delta
    neighbour: dict = field(default_factory=dict)  # environment of the other job, alpha
    needs_root: bool = False
    strike: object = None  # called with the running session and a random generator
    job_ends: bool = True  # whether beta ends as it does alone
    arbiters_end: bool = True  # whether the arbiters live to the end
    # A regular expression for what the library says about it, once in each process concerned.
    says: str = ""
    most_lines: int = 2  # of the library in each process
    takes_turns: bool = True


def play(build, fault, seed):
    """Returns what went wrong in one round, or ""."""
    draw = random.Random(f"{fault.name} {seed}")
    shape = replace(SHAPE, **fault.shape)
    with impostor.serving(fault.impostor) if fault.impostor else contextlib.nullcontext() as socket:
        environment = fault.environment | ({"CROSSOVER_SOCKET": socket} if socket else {})
        struck = replace(shape.job("beta", 2), environment=environment, environment_rank=fault.rank,
                         unhooked_rank=fault.unhooked, extra=fault.extra, start_delay_s=draw.uniform(0, 0.3))
        everywhere = {"LD_PRELOAD": str(build.test_library(fault.preload))} if fault.preload else {}
        first = replace(shape.job("alpha", 1), environment=fault.neighbour)
        plan = session.Plan(shape.machine(), (first, struck, *(shape.job(name, 3) for name in _late_of(fault))),
                            build.known_bad(fault.library) if fault.library else build.library,
                            expendable=_expendable(fault), environment=everywhere, late=_late_of(fault),
                            during=fault.strike and (lambda run: fault.strike(run, draw)),
                            daemon_settings=SIGNALS if fault.signallers else (), signallers=fault.signallers,
                            signaller=fault.signaller, signaller_environment=fault.signaller_environment,
                            mps=fault.mps)
        try:
            result = session.run(build, plan, _MARK)
        except Failed as failure:
            return str(failure)
    wrong = session.with_wrong_losses(build, plan, result)
    if wrong:
        return f"the losses of {' and '.join(wrong)} are not those that it has alone"
    return (_turns_amiss(result, fault) or _signals_amiss(result, fault) or _holders_amiss(result, fault)
            or _words_amiss(result, fault))


def _late_of(fault):
    return ("gamma", "delta") if fault.later else ()


def _expendable(fault):
    ended = ("alpha", "beta") if fault.later else () if fault.job_ends else ("beta",)
    return ended + (() if fault.arbiters_end else ("arbiters",))


def _judged(fault):
    """Returns the names of the two jobs that take turns to the end."""
    return _late_of(fault) or ("alpha", "beta")


def _turns_amiss(result, fault):
    if not fault.takes_turns:
        return ""
    idle = [name for name in _judged(fault) if sum(e.event == "hold" and e.gang == name for e in result.trace) < 10]
    return f"{' and '.join(idle)} took no turns" if idle else ""


def _signals_amiss(result, fault):
    """Checks that both jobs took turns by signals at some time, if there are signallers."""
    if not fault.signallers or not fault.signalled:
        return ""
    jobs = signalled(result)
    return "" if jobs.issuperset(_judged(fault)) else (
        f"expected both jobs to take turns by {_BY_SIGNALS}, got {sorted(jobs)}")


def signalled(result):
    """Returns the names of the jobs that took turns by signals at some time, by what the arbiters said."""
    return {name for said in result.arbiters_said for name in result.said
            if re.search(rf"{name}.*takes turns by {_BY_SIGNALS}", said)}


def _holders_amiss(result, fault):
    found = logs.two_holders(result.trace, _LONGEST_LOOK_MS) if fault.one_holder else 0
    return f"two clients had a turn of one GPU at once, {found} times" if found else ""


def _words_amiss(result, fault):
    """Checks that a degraded mode is reported once, and that nothing else is reported."""
    for rank, said in enumerate(result.said["beta"]):
        lines = re.findall(r"^crossover: .*$", said, re.MULTILINE)
        expected = bool(fault.says) and (fault.rank is None or fault.rank == rank) and fault.unhooked != rank
        matching = [line for line in lines if fault.says and re.search(fault.says, line)]
        if expected and len(matching) != 1:
            return f"rank {rank} said '{fault.says}' {len(matching)} times: {lines}"
        unlike = sum(_UNLIKE in line for line in lines)
        if len(lines) - unlike > fault.most_lines or unlike > (1 if fault.says else 0):
            return f"rank {rank} said more than it should: {lines}"
    return ""


# --- What is done while they run.


def under_way(running, draw):
    """Waits until some random moment of some cycle."""
    running.wait_for_iterations(draw.choice((8, 16, 24)))
    time.sleep(draw.uniform(0.0, 0.06))  # about two cycles: anywhere in a turn, or between two


def _ranks(running):
    return [running.rank_name(running.plan.jobs[1], rank) for rank in range(running.machine.ranks)]


def _kill_one(running, draw):
    under_way(running, draw)
    running.processes.signal(draw.choice(_ranks(running)), signal.SIGKILL)


def _kill_all(running, draw):
    under_way(running, draw)
    for rank in _ranks(running):
        running.processes.signal(rank, signal.SIGKILL)


def _stop_one(running, draw):
    under_way(running, draw)
    stop_for(running, [draw.choice(_ranks(running))], draw.uniform(0.01, 1.5))


def _stop_a_holder(running, draw):
    """Stops a rank that has just begun a turn, as its arbiter says, for longer than the watchdog waits."""
    running.wait_for_iterations(8)
    rank = draw.randrange(running.machine.ranks)
    node, _ = running.machine.place(rank)
    job = running.plan.jobs[1]
    running.wait_for_turns([running.trace_tail(node)], {(running.gpu_of(rank), job.name)}, 20.0)
    stop_for(running, [running.rank_name(job, rank)], draw.uniform(0.5, 1.5))


def stop_for(running, names, seconds):
    for name in names:
        running.processes.signal(name, signal.SIGSTOP)
    time.sleep(seconds)
    for name in names:
        running.processes.signal(name, signal.SIGCONT)


def _freeze_one(running, draw):
    under_way(running, draw)
    cgroups.freeze(running.processes.family(draw.choice(_ranks(running)))[0], draw.uniform(0.01, 1.5))


def _limit_memory(running, draw):
    """Limits a rank's memory until the kernel kills it."""
    rank = draw.choice(_ranks(running))
    with cgroups.memory_limit(running.processes.family(rank)[0], draw.randrange(40, 200)):
        end = time.monotonic() + 20.0
        while running.processes.alive(rank):
            if time.monotonic() > end:
                raise Failed(f"{rank} lives on past its memory limit")
            time.sleep(0.02)


def _leave_well(running, _draw):
    """Waits until all ranks of the job end by themselves, without an error."""
    end = time.monotonic() + 20.0
    while not all(running.processes.ended_well(rank) for rank in _ranks(running)):
        if time.monotonic() > end:
            raise Failed("a rank that called exit() runs on")
        time.sleep(0.02)


def _abort_what_hangs(running, _draw):
    """Ends the job while a collective never starts on one rank. When a rank is told to end, its other thread aborts
    the communicator one second later. Meanwhile the main loop waits for room on a stream that is blocked behind the
    collective."""
    running.wait_for_iterations(16)
    time.sleep(1.0)
    for rank in _ranks(running):
        running.processes.signal(rank, signal.SIGTERM)
    end = time.monotonic() + 5.0
    while any(running.processes.alive(rank) for rank in _ranks(running)):
        if time.monotonic() > end:
            raise Failed("a rank hangs though its communicator was aborted")
        time.sleep(0.02)


def _throttle(names):
    """Returns a strike that acts like a used-up CPU limit: the processes run for 20 ms of each 100."""
    def strike(running, draw):
        under_way(running, draw)
        for _ in range(8):
            stop_for(running, names(running), 0.08)
            time.sleep(0.02)
    return strike


def _arbiters(running):
    return [f"arbiter{node}" for node in range(running.machine.nodes)]


def _kill_arbiter(running, draw):
    under_way(running, draw)
    running.processes.signal(draw.choice(_arbiters(running)), signal.SIGKILL)


def _stop_arbiter(running, draw):
    under_way(running, draw)
    stop_for(running, [draw.choice(_arbiters(running))], draw.uniform(0.05, 1.0))


def _restart_arbiter(running, draw):
    under_way(running, draw)
    node = draw.randrange(running.machine.nodes)
    running.processes.signal(f"arbiter{node}", signal.SIGKILL)
    time.sleep(draw.uniform(0.0, 0.2))
    running.restart_arbiter(node)


def _signal_storm(running, draw):
    """Sends signals that the program handles, so that system calls return early."""
    under_way(running, draw)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        running.processes.signal(draw.choice(_ranks(running)), signal.SIGUSR2)
        time.sleep(0.002)


def _scribble(running, draw):
    """Joins as a client, then writes all over the page that all clients share."""
    under_way(running, draw)
    node = draw.randrange(running.machine.nodes)
    uuid = next(e.gpu for e in running.trace(node))
    with running.connect(node) as client:
        page = wire.join(client, "scribbler", uuid, size=1)
        for _ in range(draw.randrange(1, 200)):
            page.scribble(draw.randrange(wire.PAGE_BYTES // 4), draw.choice((0, 1, 0xffffffff, draw.getrandbits(32))))
            time.sleep(0.001)


_HOST_GATES = "host gates instead"
_CONTEXT_LOST = "its GPU context is lost"
_RELAY = {"CROSSOVER_GATES": "relay"}
_HANGS = {"SIMGPU_NCCL_FAULT": "stall:120"}  # about thirty iterations after its start
ROWS = {row.name: row for row in (
    Fault("kill one rank", strike=_kill_one, job_ends=False),
    Fault("kill all ranks", strike=_kill_all, job_ends=False),
    Fault("stop one rank for a while", strike=_stop_one),
    Fault("stop a rank in its turn", strike=_stop_a_holder),
    Fault("relayed gates and a rank stops in its turn", _RELAY, strike=_stop_a_holder),
    Fault("throttle all ranks", strike=_throttle(_ranks)),
    Fault("kill an arbiter", strike=_kill_arbiter, arbiters_end=False),
    Fault("restart an arbiter", strike=_restart_arbiter),
    Fault("stop an arbiter for a while", strike=_stop_arbiter),
    Fault("throttle the arbiters", strike=_throttle(_arbiters)),
    Fault("scribble over the page", strike=_scribble),
    Fault("signals all the time", strike=_signal_storm),
    Fault("no arbiter", {"CROSSOVER_SOCKET": "/nonexistent/arbiter.sock"}, says="no arbiter at its socket",
          takes_turns=False),
    Fault("one rank without an arbiter", {"CROSSOVER_SOCKET": "/nonexistent/arbiter.sock"}, rank=1,
          says="no arbiter at its socket", takes_turns=False),
    Fault("one rank without the library", unhooked=1, takes_turns=False),
    Fault("memory operations unsupported", {"SIMGPU_FAULT": "memops_unsupported"}, says=_HOST_GATES),
    Fault("host registration refused", {"SIMGPU_FAULT": "host_register_fails"}, says=_HOST_GATES),
    Fault("memory operations refused from some moment on", {"SIMGPU_FAULT": "memops_fail:60"}, says=_HOST_GATES),
    Fault("relayed gates", _RELAY),
    Fault("relayed gates without memory operations", _RELAY | {"SIMGPU_FAULT": "memops_unsupported"}, says=_HOST_GATES),
    Fault("relayed gates without host registration", _RELAY | {"SIMGPU_FAULT": "host_register_fails"}),
    Fault("relayed gates that are refused from some moment on", _RELAY | {"SIMGPU_FAULT": "memops_fail:30"},
          says=_HOST_GATES),
    Fault("relayed gates on one hardware queue", _RELAY | {"SIMGPU_FAULT": "queues:1"}),
    Fault("relayed gates and one rank is killed", _RELAY, strike=_kill_one, job_ends=False),
    Fault("relayed gates and one rank stops for a while", _RELAY, strike=_stop_one),
    Fault("relayed gates and an arbiter is restarted", _RELAY, strike=_restart_arbiter),
    Fault("relayed gates and an arbiter is killed", _RELAY, strike=_kill_arbiter, arbiters_end=False),
    Fault("writes that come late", {"SIMGPU_FAULT": "delayed_writes_us:2000"}),
    Fault("a stuck stream", {"SIMGPU_FAULT": "stuck_stream:2000"}, rank=0, job_ends=False),
    Fault("one hardware queue", {"SIMGPU_FAULT": "queues:1"}),
    Fault("launches that fail", {"SIMGPU_FAULT": "launch_fails:2000"}, rank=0, job_ends=False),
    Fault("a wait of ours fails on the GPU", {"SIMGPU_FAULT": "memops_break:60"}, rank=0, job_ends=False,
          says=_CONTEXT_LOST),
    Fault("a release of ours fails on the GPU", {"SIMGPU_FAULT": "memops_break:61"}, rank=0, job_ends=False,
          says=_CONTEXT_LOST),
    Fault("a wait of relayed gates fails on the GPU", _RELAY | {"SIMGPU_FAULT": "memops_break:30"}, rank=0,
          job_ends=False, says=_CONTEXT_LOST),
    Fault("a short launch queue", shape={"queue_depth": 16}),
    Fault("launches that block", {"CUDA_LAUNCH_BLOCKING": "1"}, says="CUDA_LAUNCH_BLOCKING is set", takes_turns=False),
    Fault("forks all the time", extra=("--loader=fork",)),
    Fault("graphs are captured while the neighbour comes", extra=("--launch=graphs", "--stream=own")),
    Fault("communicators are aborted", extra=("--abort-every=30",)),
    *(Fault(f"a communicator is aborted while its stream is full{name}", _HANGS | gates,
            shape={"queue_depth": 16}, strike=_abort_what_hangs, job_ends=False)
      for name, gates in (("", {}), (", relayed gates", _RELAY), (", host gates", {"CROSSOVER_GATES": "host"}))),
    Fault("threads that come and go", extra=("--launch=threads",)),
    Fault("threads that end inside calls", {"SIMGPU_FAULT": "cancellation_points"}, extra=("--launch=cancelled",)),
    Fault("threads that end inside calls through host gates",
          {"SIMGPU_FAULT": "cancellation_points", "CROSSOVER_GATES": "host"}, extra=("--launch=cancelled",)),
    Fault("exit in the midst of launches", extra=("--leave-after=30", "--leave=launching"), strike=_leave_well,
          job_ends=False),
    Fault("exec in the midst of launches", extra=("--start-over-after=30",)),
    Fault("clocks that jump", preload="jumping_clock"),
    Fault("a frozen container", strike=_freeze_one, needs_root=True),
    Fault("a memory limit is reached", extra=("--grow-after=20",), strike=_limit_memory, job_ends=False,
          needs_root=True),
    *(Fault(name, impostor=name, says=says, takes_turns=False) for name, (_, says) in impostor.WAYS.items()),
    Fault("one rank finds a newer arbiter", impostor="newer arbiter", rank=1, says="of another version",
          takes_turns=False),
)}
# The control, which must be noticed: the driver skips the user's waits. One skipped wait would not do: its stream may
# be late enough to compute the same.
CONTROL = Fault("waits left out", {"SIMGPU_FAULT": "drop_waits:400"}, rank=0)


def rounds(build, names, seeds):
    """Returns what went wrong in the first bad round of these faults, or ""."""
    for name in names:
        for seed in seeds:
            wrong = play(build, ROWS[name], seed)
            if wrong:
                return f"{name}, seed {seed}: {wrong}"
    return ""

"""Makes one run of real processes: nodes, their arbiters, the ranks of the jobs. Then reads what they wrote.

The demo and every figure that needs processes use only this. First all jobs are made ready and held before their
first iteration. Then each is released after its offset. So the start of the processes is not measured.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from testing import awake, commands, isolation, logs, validity
from testing.mps_daemons import MpsDaemons
from testing.ports import free_port
from testing.processes import Failed, Processes, await_true

_TOP = Path(__file__).resolve().parent.parent
_LISTENS_WITHIN_S = 60.0  # an arbiter that was started; on a busy machine it takes seconds


@dataclass(frozen=True)
class Plan:
    """What to run. If `library` is None, the jobs run without Crossover and no arbiter is started."""

    machine: object
    jobs: tuple
    library: object = None
    deadline_s: float = 60.0
    isolated: bool = True
    daemon_settings: tuple = ()  # lines; {node} is the node's number
    signallers: int = 0  # for each GPU
    signaller: str = "crossover-signaller"  # their program
    signaller_environment: dict = field(default_factory=dict)  # of those that start with the session
    mps: bool = False  # a control daemon of MPS runs on each node, and the jobs are its clients
    # This is added to that of every process. In that of ranks {job}, {node} and {rank} are the rank's own.
    environment: dict = field(default_factory=dict)
    front: tuple = ()  # libraries that ranks preload in front of `library`
    # Names of the jobs that may fail, and "arbiters": a fault is done to them. No results are read from such a job.
    expendable: tuple = ()
    during: object = None  # called with the session while the jobs run: for faults, pauses and probes
    late: tuple = ()  # names of jobs that `during` starts, with start_late()
    limits: validity.Limits = validity.Limits()  # a run beyond them is void

    @property
    def early(self):
        return [job for job in self.jobs if job.name not in self.late]

    @property
    def survivors(self):
        return [job for job in self.jobs if job.name not in self.expendable]


@dataclass(frozen=True)
class Result:
    """What a run left behind."""

    jobs: dict
    said: dict  # by job: what each rank wrote on its standard streams
    arbiters_said: tuple  # what the arbiter of each node wrote
    trace: tuple
    load: validity.Load
    isolation: str
    isolated: bool
    refused: str
    seconds: float

    def job(self, name):
        return self.jobs[name]


def run(build, plan, mark, keep=None):
    """Runs a plan in a directory of its own under /dev/shm. Its files are copied to `keep`, if that is set."""
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    directory = Path(tempfile.mkdtemp(prefix=f"{mark}-", dir=base))
    try:
        return _run_in(build, plan, mark, directory)
    finally:
        if keep:
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(directory, keep, ignore=shutil.ignore_patterns("machine", "*.sock"))
        shutil.rmtree(directory, ignore_errors=True)


def _run_in(build, plan, mark, directory):
    began = time.monotonic()
    # The processes are the inner context: they are asked to end while their namespaces still exist.
    with isolation.nodes(plan.machine.nodes, mark, plan.isolated) as (nodes, refused), Processes(mark) as processes:
        session = _Session(build, plan, directory, nodes, processes)
        session.prepare()
        if plan.mps:
            session.mps.start(plan.machine.nodes)
        if plan.library:
            session.start_arbiters()
            session.start_signallers()
        session.start_jobs()
        meter = validity.CpuMeter()
        session.let_go()
        if plan.during:
            plan.during(session)
        session.wait_for_jobs()
        cpu, stolen = meter.shares()
        session.stop_arbiters()
    return Result(
        jobs={job.name: session.job_log(job) for job in plan.survivors},
        said={job.name: session.words(job) for job in plan.jobs},
        arbiters_said=tuple(session.arbiter_words(node) for node in range(plan.machine.nodes)),
        trace=tuple(logs.read_traces(session.trace_file(n) for n in range(plan.machine.nodes))),
        load=replace(validity.load_of(cpu, stolen, logs.read_reports(directory / "reports"),
                                      len(plan.survivors) * plan.machine.ranks), limits=plan.limits),
        isolation=nodes.says, isolated=nodes.isolated, refused=refused, seconds=time.monotonic() - began)


class _Session:
    """The parts of one run while it runs. Used by one thread."""

    def __init__(self, build, plan, directory, nodes, processes):
        self.build, self.plan, self.directory = build, plan, directory
        self.nodes, self.processes = nodes, processes
        self.machine = plan.machine
        self.mps = MpsDaemons(build, nodes, processes, directory)

    def prepare(self):
        for name in ("machine", "reports", "logs"):
            (self.directory / name).mkdir()
            (self.directory / name).chmod(0o777)  # jobs may have users of their own
        self.directory.chmod(0o755)
        for node in range(self.machine.nodes):
            (self.directory / f"node{node}").mkdir()
        self._config = self.directory / "machine.yaml"
        self._config.write_text(self.machine.yaml(self.directory / "machine"), encoding="utf-8")

    def start_arbiters(self):
        for node in range(self.machine.nodes):
            config = self.directory / f"node{node}" / "crossover.yaml"
            settings = [line.replace("{node}", str(node)) for line in self.plan.daemon_settings]
            config.write_text(commands.daemon_config(self.socket(node), self.trace_file(node), settings),
                              encoding="utf-8")
            self._start_arbiter(node)
        for node in range(self.machine.nodes):
            self._await_socket(node)

    def start_signallers(self):
        """Starts signallers on the nodes. They get none of the plan's environment, which is that of jobs."""
        (self.directory / "no-mps").mkdir()
        for node in range(self.machine.nodes):
            for gpu in range(self.machine.gpus_per_node):
                for number in range(self.plan.signallers):
                    self.start_signaller(node, gpu, number, self.plan.signaller_environment)

    def start_signaller(self, node, gpu, number=0, more=()):
        """Starts a signaller of a GPU, also in place of one that was killed. Its environment, with `more`, names MPS,
        which it keeps away from."""
        environment = {**self._machine_environment(node), **self._mps_environment(node), **dict(more)}
        command = commands.signaller_command(self.build, self.machine.uuid(node, gpu), self.socket(node),
                                             self.directory / "no-mps", self.plan.signaller)
        name = signaller_name(node, gpu, number)
        self.processes.start(name, self.nodes.on_node(node, command), environment, self.directory / "logs" / name)

    def restart_arbiter(self, node):
        """Starts an arbiter in place of one that was killed. Its words follow those of the other."""
        self._start_arbiter(node, again=True)

    def _start_arbiter(self, node, again=False):
        config = self.directory / f"node{node}" / "crossover.yaml"
        command = self.nodes.on_node(node, commands.daemon_command(self.build, config))
        self.processes.start(f"arbiter{node}", command, self._environment(node),
                             self.directory / "logs" / f"arbiter{node}", again)

    def start_jobs(self):
        """Starts all ranks of all jobs and waits until each job is ready for its first iteration."""
        for job in self.plan.early:
            self._hold(job).touch()
            self._start_ranks(job)
        self.wait_for_words("all ranks are ready")

    def start_late(self, name):
        """Starts all ranks of a late job. Returns the time, by the clock of the logs, in ns."""
        self._start_ranks(next(job for job in self.plan.jobs if job.name == name))
        return time.monotonic_ns()

    def kill_job(self, name):
        """Sends SIGKILL to all its ranks. Returns the time, by the clock of the logs, in ns."""
        job = next(job for job in self.plan.jobs if job.name == name)
        for rank in range(self.machine.ranks):
            self.processes.signal(self.rank_name(job, rank), signal.SIGKILL)
        return time.monotonic_ns()

    def end_jobs(self, names, patience_s=30.0):
        """Kills all ranks of these jobs that have not ended yet, and waits until none is left."""
        ranks = [self.rank_name(job, rank) for job in self.plan.jobs if job.name in names
                 for rank in range(self.machine.ranks)]
        for rank in ranks:
            with contextlib.suppress(FileNotFoundError):  # it has ended meanwhile
                self.processes.signal(rank, signal.SIGKILL)
        await_true("the ranks to end", lambda: not any(map(self.processes.alive, ranks)), patience_s)

    def _start_ranks(self, job):
        port = free_port()
        for rank in range(self.machine.ranks):
            self._start_rank(job, rank, port)

    def let_go(self):
        began = time.monotonic()
        for job in sorted(self.plan.early, key=lambda j: j.start_delay_s):
            time.sleep(max(0.0, began + job.start_delay_s - time.monotonic()))
            self._hold(job).unlink()

    def wait_for_jobs(self):
        self.processes.wait([self.rank_name(j, r) for j in self.plan.survivors for r in range(self.machine.ranks)],
                            self.plan.deadline_s)

    def wait_for_iterations(self, count, patience_s=30.0):
        """Waits until every job has reported `count` iterations. A job reports ten times in its life."""
        self._await(lambda job: self._iterations_said(job) >= count, f"fewer than {count} iterations", patience_s)

    def wait_for_words(self, words, patience_s=30.0):
        """Waits until the first rank of every job has printed these words."""
        self._await(lambda job: words in self._said(job), f"no word of '{words}'", patience_s)

    def _await(self, done, otherwise, patience_s):
        """Waits until `done` is true for every job. Raises Failed if that takes too long, or if a rank ends before."""
        end = time.monotonic() + patience_s
        for job in self.plan.early:
            while not done(job):
                ended = [self.processes.ended_well(self.rank_name(job, r)) for r in range(self.machine.ranks)]
                if time.monotonic() > end or ended[0]:
                    raise Failed(f"job {job.name}: {otherwise} after {patience_s:.0f} s; its last words: "
                                 f"{self.processes.last_words(self.rank_name(job, 0))}")
                time.sleep(0.02)

    def _said(self, job, rank=0):
        log = self.directory / "logs" / self.rank_name(job, rank)
        return log.read_text(errors="replace") if log.exists() else ""

    def pid_on_node(self, name):
        """Returns the ID that a process has in the PID namespace of its node."""
        status = Path(f"/proc/{self.processes.inner(name)}/status").read_text(encoding="ascii")
        return int(re.search(r"^NSpid:.*\s(\d+)$", status, re.MULTILINE)[1])

    def arbiter_words(self, node):
        log = self.directory / "logs" / f"arbiter{node}"
        return log.read_text(errors="replace") if log.exists() else ""

    def words(self, job):
        return tuple(self._said(job, rank) for rank in range(self.machine.ranks))

    def _iterations_said(self, job):
        numbers = re.findall(r"^iteration (\d+) ", self._said(job), re.MULTILINE)
        return int(numbers[-1]) if numbers else 0

    def stop_arbiters(self):
        if self.plan.library:
            names = [f"arbiter{node}" for node in range(self.machine.nodes)]
            for name in names if "arbiters" not in self.plan.expendable else ():
                if not self.processes.alive(name):
                    raise Failed(f"{name} ended early; its last words: {self.processes.last_words(name)}")
            self.processes.stop(names)

    def job_log(self, job):
        ranks = [logs.read_rank_log(self._rank_log(job, rank)) for rank in range(self.machine.ranks)]
        return logs.JobLog(job.name, tuple(ranks))

    def top(self, node=0):
        """Returns what `crossover top -o json` prints on a node."""
        command = commands.top_command(self.build, Path(self.socket(node)).with_name("api.sock"))
        done = subprocess.run(self.nodes.on_node(node, command), check=True, capture_output=True, text=True,
                              env={**os.environ, **self._environment(node)})
        return json.loads(done.stdout)

    def trace(self, node):
        return logs.read_traces([self.trace_file(node)])

    def start_client(self, node, name, command):
        """Starts any program as a pod's process on a node, with our Python modules. Waits until it prints "ready"."""
        log = self.directory / "logs" / name
        environment = {**self._environment(node), "PYTHONPATH": str(_TOP)}
        self.processes.start(name, self.nodes.as_client(node, command), environment, log)
        end = time.monotonic() + 10.0
        while "ready" not in log.read_text(errors="replace"):
            if not self.processes.alive(name) or time.monotonic() > end:
                raise Failed(f"{name} is not ready; its last words: {self.processes.last_words(name)}")
            time.sleep(0.02)

    def start_member(self, name, gang, rank, command, environment):
        """Starts any program as a rank of a gang, with the library if the plan has one. Returns the file of what it
        writes."""
        node, gpu = self.machine.place(rank)
        log = self.directory / "logs" / name
        if self.plan.library:
            command = commands.shared_command(self.build, commands.Job(gang), self.machine.ranks, self.plan.library,
                                              command)
        self.processes.start(name, self.nodes.as_client(node, command), {
            **self._environment(node), "CROSSOVER_SOCKET": self.socket(node), "RANK": str(rank), "LOCAL_RANK": str(gpu),
            **environment}, log)
        return log

    def connect(self, node):
        """Returns a connection to a node's arbiter."""
        client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        client.connect(self.nodes.reach(node, self.socket(node)))
        return client

    def trace_tail(self, node):
        """Returns the trace of a node's arbiter, from now on."""
        tail = logs.TraceTail(self.trace_file(node))
        tail.news()
        return tail

    def wait_for_turns(self, tails, wanted, patience_s):
        """Waits until each (GPU, gang) of `wanted` begins a turn, from now on. Returns when the last of these turns
        began. `tails` are of the traces that show them."""
        since_ns = latest_ns = time.monotonic_ns()
        missing = set(wanted)
        while missing:
            for event in (event for tail in tails for event in tail.news()):
                if event.event == "hold" and event.t_ns > since_ns and (event.gpu, event.gang) in missing:
                    missing.discard((event.gpu, event.gang))
                    latest_ns = max(latest_ns, event.t_ns)
            if time.monotonic_ns() - since_ns > patience_s * 1e9:
                raise Failed(f"no turns for {patience_s:.0f} s: {sorted(missing)}")
            time.sleep(0.005)
        return latest_ns

    def trace_file(self, node):
        return self.directory / f"node{node}" / "trace.jsonl"

    def _start_rank(self, job, rank, port):
        node, _ = self.machine.place(rank)
        command = commands.trainer_command(self.build, job, self._rank_log(job, rank))
        command.append(f"--pause-file={self._hold(job)}")
        environment = {**self._environment(node), **self._mps_environment(node),
                       **commands.rank_environment(self.machine, rank, self.nodes.address(0), port)}
        hooked = self.plan.library and rank != job.unhooked_rank
        if self.plan.front:
            command = commands.preloading((*self.plan.front, *((self.plan.library,) if hooked else ())), command)
        if hooked:
            command = commands.shared_command(self.build, job, self.machine.ranks, self.plan.library, command)
            environment["CROSSOVER_SOCKET"] = self.socket(node)
        if job.environment_rank in (None, rank):
            environment |= job.environment
        own = {"{job}": job.name, "{node}": str(node), "{rank}": str(rank)}
        environment = {key: _filled_in(value, own) for key, value in environment.items()}
        command = commands.as_user(job.user, command)
        self.processes.start(self.rank_name(job, rank), self.nodes.as_client(node, command), environment,
                             self.directory / "logs" / self.rank_name(job, rank))

    def _machine_environment(self, node):
        return {"LD_LIBRARY_PATH": str(self.build.gpu_libraries), "SIMGPU_CONFIG": str(self._config),
                "SIMGPU_NODE": str(node)}

    def _environment(self, node):
        return {**self._machine_environment(node), "SIMGPU_REPORT": str(self.directory / "reports"),
                **self.plan.environment}

    def _mps_environment(self, node):
        return self.mps.environment(node) if self.plan.mps else {}

    def socket(self, node):
        """Returns where the arbiter of a node listens, as the node's processes see it."""
        return self.nodes.socket(node, self.directory)

    def _await_socket(self, node):
        """Waits until an arbiter listens. Its socket may be in the node's own mounts, so this looks from there."""
        end = time.monotonic() + _LISTENS_WITHIN_S
        name = f"arbiter{node}"
        while not os.path.exists(self.nodes.reach(node, self.socket(node))):
            if not self.processes.alive(name) or time.monotonic() > end:
                raise Failed(f"{name} does not listen at {self.socket(node)}; its last words: "
                             f"{self.processes.last_words(name)}")
            time.sleep(0.02)

    def _hold(self, job):
        """While this file exists, the job starts no iteration."""
        return self.directory / f"hold-{job.name}"

    def gpu_of(self, rank):
        """Returns the UUID of a rank's GPU."""
        return self.machine.uuid(*self.machine.place(rank))

    def rank_name(self, job, rank):
        return f"{job.name}-rank{rank}"

    def _rank_log(self, job, rank):
        return self.directory / "logs" / f"{job.name}-rank{rank}.jsonl"


def _filled_in(text, words):
    for name, word in words.items():
        text = text.replace(name, word)
    return text


def signaller_name(node, gpu, number=0):
    """Returns the name of a signaller among the processes of a run."""
    return f"signaller{node}-{gpu}-{number}"


@cache
def digest_alone(build, machine, job):
    """Returns the digest of the losses that a job has alone and without the library. It comes from a faster run: the
    durations of kernels and transfers do not affect the losses."""
    plain = replace(job, compute_ms=0.5, start_delay_s=0.0, environment={}, environment_rank=None, unhooked_rank=None)
    alone = Plan(replace(machine, node_link_bytes_per_s=1e9), (plain,))
    return run(build, alone, "crossover-alone").job(job.name).digest


def with_wrong_losses(build, plan, result):
    """Returns the names of the jobs that ended with other losses than they have alone."""
    return [job.name for job in plan.survivors
            if result.job(job.name).digest != digest_alone(build, plan.machine, job)]


def run_valid(build, plan, mark, keep=None, note=lambda text: None, may_repeat=lambda seconds: True,
              patience_s=90.0, until=0.0, on_void=lambda result: None):
    """Runs until a run is valid, at most three times more, or longer, until `until`. The last result may still be
    void.

    `may_repeat` is asked before each repeat, with the seconds that the void run took. `patience_s` is how long to
    wait for a quiet machine before a repeat. `on_void` is called with each void result, including the last.
    """
    tries = 0
    while True:
        result = run(build, plan, mark, keep)
        tries += 1
        if not result.load.void:
            return result
        on_void(result)
        if (tries > validity.REPEATS and time.monotonic() >= until) or not may_repeat(result.seconds):
            return result
        note(f"void ({result.load.void}), again")
        if result.load.late or result.load.stolen > plan.limits.stolen:
            awake.insist()
        validity.wait_until_quiet(patience_s)

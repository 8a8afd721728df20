"""Kills ranks of an unmodified PyTorch job under torchrun, which starts the job again each time, beside another job
that must not notice. `play` does that, and kills.hand_overs() reads its trace."""

import contextlib
import os
import random
import signal
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.faults import rank_kills
from testing import logs
from testing.frameworks import family, software_gpu

_SCRIPT = "ddp.py"
_VICTIM, _NEIGHBOUR = "beta", "alpha"
_KERNEL_SCALE = 100
# torchrun would keep one store for all starts of a job, and the store still has NCCL's id of the start before.
_LAUNCHER = ("--standalone",)
_ENVIRONMENT = (("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1"),)
_ENDLESS = 10_000_000  # steps
_PATIENCE_S = 120.0  # for the job to come back and take turns on both GPUs, with PyTorch loaded anew
_POLL_S = 0.02
# A kill comes so many seconds after the job's turns have begun, which is about two steps of both jobs.
_LONGEST_PAUSE_S = 0.5


@dataclass(frozen=True)
class Outcome:
    """`kills` lists the kills. `wrong` says what went wrong, "" if nothing did: the job does not come back, or its
    neighbour ends. `hand_over_ms` is that of rank_kills.Outcome."""

    kills: tuple
    wrong: str
    hand_over_ms: tuple


def play(build, library, moments, seed, restarts=100_000, say=print):
    """Kills a rank at `moments` moments that are drawn from the seed. torchrun starts the job again at most `restarts`
    times. Returns the Outcome."""
    draw, taken, wrong = random.Random(seed), [], ""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory, \
            software_gpu.Machine(directory, _KERNEL_SCALE, build=build) as machine:
        machine.start_arbiter()
        jobs = {_NEIGHBOUR: machine.start(_NEIGHBOUR, _SCRIPT, "--steps", _ENDLESS, library=library, recorded=False),
                _VICTIM: machine.start(_VICTIM, _SCRIPT, "--steps", _ENDLESS, library=library, recorded=False,
                                       launcher=(*_LAUNCHER, f"--max-restarts={restarts}"), environment=_ENVIRONMENT)}
        tail = logs.TraceTail(machine.trace)
        for number in range(moments):
            wrong = _await_turns(machine, tail, jobs)
            if wrong:
                break
            time.sleep(draw.uniform(0, _LONGEST_PAUSE_S))
            rank = draw.randrange(2)
            taken.append(_kill(jobs[_VICTIM].pid, rank))
            if number % 10 == 9:
                say(f"    {number + 1} kills")
        wrong = wrong or _await_turns(machine, tail, jobs)
        trace = logs.read_traces([machine.trace])
    return Outcome(tuple(taken), wrong, tuple(rank_kills.hand_overs(trace, taken)))


def _await_turns(machine, tail, jobs):
    """Waits until both jobs take turns on both GPUs, from now on. Returns "", or what went wrong."""
    began_ns = time.monotonic_ns()
    missing = {(_gpu(rank), gang) for gang in jobs for rank in range(2)}
    while missing:
        for event in tail.news():
            if event.event == "hold" and event.t_ns > began_ns:
                missing.discard((event.gpu, event.gang))
        for name, process in jobs.items():
            if process.poll() is not None:
                return f"{name} ended with {process.returncode}: {machine.said(name)[-2000:]}"
        if time.monotonic_ns() - began_ns > _PATIENCE_S * 1e9:
            return f"no turns within {_PATIENCE_S:.0f} s: {sorted(missing)}; {machine.said(_VICTIM)[-2000:]}"
        time.sleep(_POLL_S)
    return ""


def _kill(launcher, rank):
    """Kills a rank of the job of a launcher. Returns the Kill. A rank that is not there is an AssertionError."""
    for pid in family.descendants(launcher):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if f"RANK={rank}".encode() in words and b"CROSSOVER_GANG=" + _VICTIM.encode() in words:
                sent_ns = time.monotonic_ns()
                os.kill(pid, signal.SIGKILL)
                return rank_kills.Kill(sent_ns, _gpu(rank), _VICTIM)
    raise AssertionError(f"rank {rank} of {_VICTIM}: expected a process, got none")


def _gpu(rank):
    return f"GPU-00000000-0000-0000-0000-{rank:012x}"

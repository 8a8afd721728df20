"""Lets the ranks of jobs leave in the middle of their turns, one job after the other, beside a job that goes on.

`play` does that; `in_turn` reads the trace. The latter is pure.
"""

import random
import re
import time
from dataclasses import dataclass, field

from benchmarks import kills, session
from benchmarks.pairs import Shape
from benchmarks.processes import Failed

WAYS = {"return": 0, "exception": 1, "signal": 0, "no_destroy": 0}  # the exit code of each
_FOR_EVER = 1_000_000
SHAPE = Shape(0.6, compute_ms=10.0, ranks=2, iterations=_FOR_EVER)
_MARK = "crossover-exit"
_NEIGHBOUR = "alpha"
_ITERATIONS = 30  # of a rank before it leaves: the library learns from the first five
_LONGEST_WAIT_US = 3000  # from a launch in the turn, whose kernel takes 2 ms, until the rank leaves
_PATIENCE_S = 20.0
# The driver crashes as real ones do when it is called while or after it is unloaded, and that takes its time.
UNLOAD = {"SIMGPU_FAULT": "crash_after_exit:5000"}


@dataclass
class Exits:
    """Holds what `play` saw: the exits as kills.Kill objects, and what was wrong with the processes."""

    left: list = field(default_factory=list)
    crashes: list = field(default_factory=list)
    hangs: list = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    exits: int
    in_turn: int
    crashes: tuple
    hangs: tuple
    hand_over_ms: tuple
    wrong: str


def play(build, way, jobs, seed, library):
    """Lets the ranks of so many jobs leave, and returns the Outcome."""
    seen = Exits()
    plan = session.Plan(SHAPE.machine(), (SHAPE.job(_NEIGHBOUR, 99),), library, isolated=False,
                        expendable=(_NEIGHBOUR,), daemon_settings=("guard: off",),
                        during=lambda running: _leave(running, build, way, jobs, random.Random(f"{way} {seed}"), seen))
    try:
        trace = session.run(build, plan, _MARK).trace
    except Failed as failure:
        return Outcome(len(seen.left), 0, tuple(seen.crashes), tuple(seen.hangs), (), str(failure))
    held = [left for left in seen.left if in_turn(trace, left)]
    return Outcome(len(seen.left), len(held), tuple(seen.crashes), tuple(seen.hangs),
                   tuple(kills.hand_overs(trace, held)), "")


def _leave(running, build, way, jobs, draw, seen):
    for number in range(jobs):
        ranks = range(running.machine.ranks)
        names = {rank: f"leaver{number}-rank{rank}" for rank in ranks}
        logs = {}
        for rank in ranks:
            command = [str(build.program("leaver")), way, str(_ITERATIONS), str(draw.randint(0, _LONGEST_WAIT_US))]
            logs[rank] = running.start_member(names[rank], f"leaver{number}", rank, command,
                                              {"IDS": str(running.directory / f"ids-{number}"), **UNLOAD})
        end = time.monotonic() + _PATIENCE_S
        while any(running.processes.alive(name) for name in names.values()) and time.monotonic() < end:
            time.sleep(0.005)
        for rank in ranks:
            _judge(running, seen, WAYS[way], names[rank], logs[rank], f"leaver{number}", running.gpu_of(rank))
        running.processes.stop(names.values())
        if not running.processes.alive(f"{_NEIGHBOUR}-rank0"):
            raise Failed(f"the neighbour ended; its last words: {running.processes.last_words(f'{_NEIGHBOUR}-rank0')}")


def _judge(running, seen, code, name, log, gang, gpu):
    ended, said = running.processes.ended(name), log.read_text(errors="replace")
    moment = re.search(r"^leaves (\d+)$", said, re.MULTILINE)
    if moment:
        seen.left.append(kills.Kill(int(moment.group(1)), gpu, gang))
    if ended is None:
        seen.hangs.append(f"{name} has not ended within {_PATIENCE_S:.0f} s")
    elif ended != f"exit code {code}":
        seen.crashes.append(f"{name} ended with {ended}: {running.processes.last_words(name)}")
    elif not moment:
        seen.crashes.append(f"{name} ended before it left: {running.processes.last_words(name)}")


def in_turn(trace, left):
    """Tells whether the gang held the GPU's turn at that moment."""
    holder = None
    for event in trace:
        if event.t_ns > left.t_ns:
            break
        if event.gpu != left.gpu:
            continue
        if event.event == "hold":
            holder = event.gang
        elif event.gang == holder and (event.event in ("release", "leave")
                                       or (event.event == "mode" and event.mode != "gate")):
            holder = None
    return holder == left.gang

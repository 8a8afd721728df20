"""Runs programs that are strange to the library, as ranks of jobs beside a job that takes turns: programs that close
descriptor numbers, that have two drivers, and that have more at a time than tables have room for. For those that lose
their environment see lost_budgets.py.

`play` runs the programs of a kind; `wrong_with` judges one. The latter is pure.
"""

import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from testing import processes, session
from testing.pairs import Shape
from testing.processes import Failed

RANKS = 2
SHAPE = Shape(0.6, compute_ms=10.0, ranks=RANKS, iterations=1_000_000)
_MARK = "crossover-strangers"
_NEIGHBOUR = "alpha"
_FOLDER = Path(__file__).resolve().parents[1] / "strangers"
_TURNS = 10  # that the job must have on each GPU behind the strange act
_PATIENCE_S = 30.0
_LOOK_S = 0.005
_OTHERS = "other ranks of the job may take turns"


@dataclass(frozen=True)
class Program:
    """A Program is a command, in which BUILD stands for the programs of the build, HERE for the folder of scripts and
    PYTHON for the interpreter. `stubs_first`: LD_LIBRARY_PATH has the stub's folder before the driver's. `says` is a
    pattern that the library must have written on one rank. `detaches`: the process that was started ends before the
    work does."""

    name: str
    command: tuple
    stubs_first: bool = False
    says: str = ""
    detaches: bool = False

    def words(self, build):
        places = {"BUILD": str(build.top.resolve() / "bin"), "HERE": str(_FOLDER), "PYTHON": sys.executable}
        return [re.sub(r"BUILD|HERE|PYTHON", lambda match: places[match.group()], word) for word in self.command]


@dataclass(frozen=True)
class Seen:
    """Holds what became of the ranks of one program. A verdict is "" where there is none; `turns` tells whether the
    job had its turns after the strange act; `answers` are what the program recorded."""

    verdicts: tuple
    ends: tuple
    turns: bool
    answers: tuple
    said: tuple


def _closer(way, *before, **more):
    return Program(f"closes_{way}" if not before else f"closes_{Path(before[0]).stem}",
                   (*before, "BUILD/stranger_closer", way), **more)


def _script(name, way):
    return Program(f"{name}_{way}", ("PYTHON", "-B", f"HERE/{name}.py", way))


def _loader(way, **more):
    return Program(f"loads_{way}", ("BUILD/stranger_loader", way), **more)


def _burster(way, *rank, **more):
    return Program("_".join(("bursts", way, *(f"on_rank_{one}" for one in rank))),
                   ("BUILD/stranger_burster", way, *rank), **more)


KINDS = {
    "descriptors": (
        _closer("closefrom"), _closer("socket"), _closer("pipe"), _closer("forks"), _closer("twice", detaches=True),
        _script("closes", "gunicorn"), _script("closes", "stderr"), _script("closes", "workers"),
        _closer("closefrom", "perl", "HERE/daemon.pl", detaches=True),
        Program("closes_start_stop_daemon", (
            "sh", "-c", 'ulimit -n 256; exec start-stop-daemon --start --background --pidfile "$STATE/pid-$RANK" '
            '--make-pidfile --exec "$0" -- socket', "BUILD/stranger_closer"), detaches=True)),
    "two_drivers": (
        _loader("stub_first"), _loader("driver_first"), _loader("falls_back", stubs_first=True), _loader("deep"),
        _loader("plugin"), _loader("closes"), _loader("apart"), _script("loads", "ctypes"),
        Program("loads_search", ("PYTHON", "-B", "HERE/loads.py", "search"), stubs_first=True),
        _script("loads", "threads")),
    "full_tables": (
        _burster("streams"), _burster("captures"), _burster("kept"), _burster("pools"), _burster("threads"),
        _burster("again"), _burster("early"), _burster("splits"), _burster("across", "1", says=_OTHERS),
        Program("bursts_python", ("PYTHON", "-B", "HERE/bursts.py"))),
}


def wrong_with(program, seen, plain):
    """Returns in words what is wrong with what a program did; "" where nothing is. `plain` is what the same program
    did without the library. Pure."""
    for rank, verdict in enumerate(seen.verdicts):
        if verdict != "sound":
            last = seen.said[rank].strip().splitlines()[-1:] or ["nothing"]
            return f"rank {rank}: {verdict or 'no verdict'}; {seen.ends[rank]}; its last words: {last[0]}"
    for rank, end in enumerate(seen.ends):
        if end != "exit code 0":
            return f"rank {rank} ended with {end}"
    if seen.answers != plain.answers:
        return f"answers: expected {plain.answers} as without the library, got {seen.answers}"
    if not seen.turns:
        return f"fewer than {_TURNS} turns on each GPU behind the strange act"
    if program.says and not any(re.search(program.says, said) for said in seen.said):
        return f"the library did not write '{program.says}'"
    return ""


def play(build, kind, library, say=lambda words: None):
    """Runs the programs of a kind one after the other. Returns {name: what is wrong}. Raises Failed where a program
    is wrong without the library, too: then it is no test."""
    programs = KINDS[kind]
    plain = _run(build, programs, None, say)
    for program in programs:
        wrong = wrong_with(Program(program.name, program.command), plain[program.name], plain[program.name])
        if wrong:
            raise Failed(f"{program.name} without the library: {wrong}")
    hooked = _run(build, programs, library, say)
    return {program.name: wrong_with(program, hooked[program.name], plain[program.name]) for program in programs}


def _run(build, programs, library, say):
    """Runs each program, beside a job that takes turns where there is a library. Returns {name: Seen}."""
    seen = {}

    def during(running):
        for number, program in enumerate(programs):
            seen[program.name] = _run_one(running, build, program, number)
            say(f"      {program.name}: {', '.join(seen[program.name].verdicts)}")

    jobs = (SHAPE.job(_NEIGHBOUR, 99),) if library else ()
    plan = session.Plan(SHAPE.machine(), jobs, library, isolated=False, expendable=(_NEIGHBOUR,),
                        daemon_settings=("guard: off",), during=during)
    try:
        session.run(build, plan, _MARK)
    finally:
        processes.kill_marked(_MARK)  # daemons that have left their family
    return seen


def _run_one(running, build, program, number):
    state = running.directory / f"state-{number}"
    state.mkdir()
    gang, ranks = f"stranger{number}", range(RANKS)
    names = [f"{gang}-rank{rank}" for rank in ranks]
    top = build.top.resolve()  # daemons change their folder
    stubs, folders = top / "lib" / "stubs", [str(build.gpu_libraries.resolve())]
    environment = {"STATE": str(state), "LIBRARIES": str(top / "lib"), "STUBS": str(stubs),
                   "LD_LIBRARY_PATH": ":".join(([str(stubs)] if program.stubs_first else []) + folders),
                   **({} if running.plan.library else {"PLAIN": "1"})}
    logs = [running.start_member(names[rank], gang, rank, program.words(build), environment) for rank in ranks]

    def over():
        """Tells whether a rank has its verdict or has ended without one."""
        return any((state / f"verdict-{rank}").exists() or
                   (not program.detaches and not running.processes.alive(names[rank])) for rank in ranks)

    _await(lambda: over() or all((state / f"acted-{rank}").exists() for rank in ranks))
    turns = running.plan.library is None or (not over() and _has_turns(running, gang, over))
    (state / "enough").touch()
    _await(lambda: all((state / f"verdict-{rank}").exists() or
                       (not program.detaches and not running.processes.alive(names[rank])) for rank in ranks))
    if not program.detaches:
        _await(lambda: not any(running.processes.alive(name) for name in names), _PATIENCE_S / 10)
    ends = tuple(running.processes.ended(name) or f"no end within {_PATIENCE_S:.0f} s" for name in names)
    running.processes.stop(names)
    if running.plan.library and not running.processes.alive(f"{_NEIGHBOUR}-rank0"):
        raise Failed(f"the neighbour ended; its last words: {running.processes.last_words(f'{_NEIGHBOUR}-rank0')}")
    return Seen(tuple(_text(state / f"verdict-{rank}") for rank in ranks), ends, turns,
                tuple(_text(state / f"seen-{rank}") for rank in ranks),
                tuple(log.read_text(errors="replace") for log in logs))


def _has_turns(running, gang, over):
    """Waits until the job has begun so many turns on each GPU, from now on. Returns whether it has in time."""
    tails = [running.trace_tail(node) for node in range(running.machine.nodes)]
    counts = {running.gpu_of(rank): 0 for rank in range(RANKS)}

    def enough():
        for event in (event for tail in tails for event in tail.news()):
            if event.event == "hold" and event.gang == gang and event.gpu in counts:
                counts[event.gpu] += 1
        return min(counts.values()) >= _TURNS

    _await(lambda: enough() or over())
    return min(counts.values()) >= _TURNS


def _await(so, patience_s=_PATIENCE_S):
    end = time.monotonic() + patience_s
    while not so() and time.monotonic() < end:
        time.sleep(_LOOK_S)


def _text(path):
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

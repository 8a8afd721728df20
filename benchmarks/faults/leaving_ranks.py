"""Lets the ranks of jobs leave in the middle of their turns, one job after the other, beside a job that goes on.

`play` does that; `in_turn` reads the trace; `wrong_end` judges one end and `too_few` a series. The last three are pure.
"""

import enum
import random
import re
import time
from dataclasses import dataclass, field

from benchmarks.faults import rank_kills
from testing import session
from testing.pairs import Shape
from testing.processes import Failed

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


class End(enum.Enum):
    """Names how a rank can end otherwise than its way says."""

    CRASH = "crash"  # by a signal
    HANG = "hang"
    FAILURE = "failure"  # by itself: with another exit code, or before it left


@dataclass
class Exits:
    """Holds what `play` saw: the exits as kills.Kill objects, and the wrong ends as (End, words)."""

    left: list = field(default_factory=list)
    ends: list = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """`ends` holds the wrong ends of ranks as (End, words). `wrong` says why the run as a whole failed; "" if it did
    not."""

    exits: int
    in_turn: int
    ends: tuple
    hand_over_ms: tuple
    wrong: str

    def words_of(self, *kinds):
        """Returns the words of the wrong ends of these kinds; of all without kinds."""
        return [words for kind, words in self.ends if not kinds or kind in kinds]

    @property
    def fatal(self):
        """Returns how many ranks a signal ended or never ended. A control counts nothing else; None where its run
        failed as a whole, so that it shows nothing."""
        return None if self.wrong else len(self.words_of(End.CRASH, End.HANG))


def play(build, way, jobs, seed, library):
    """Lets the ranks of so many jobs leave, and returns the Outcome."""
    seen = Exits()
    plan = session.Plan(SHAPE.machine(), (SHAPE.job(_NEIGHBOUR, 99),), library, isolated=False,
                        expendable=(_NEIGHBOUR,), daemon_settings=("guard: off",),
                        during=lambda running: _leave(running, build, way, jobs, random.Random(f"{way} {seed}"), seen))
    try:
        trace = session.run(build, plan, _MARK).trace
    except Failed as failure:
        return Outcome(len(seen.left), 0, tuple(seen.ends), (), str(failure))
    held = [left for left in seen.left if in_turn(trace, left)]
    return Outcome(len(seen.left), len(held), tuple(seen.ends), tuple(rank_kills.hand_overs(trace, held)), "")


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
        seen.left.append(rank_kills.Kill(int(moment.group(1)), gpu, gang))
    end = wrong_end(ended, code, moment is not None)
    if end is not None:
        how = f"has not ended within {_PATIENCE_S:.0f} s" if end is End.HANG else (
            f"ended with {ended}{'' if moment else ' before it left'}: {running.processes.last_words(name)}")
        seen.ends.append((end, f"{name} {how}"))


def wrong_end(ended, code, left):
    """Returns the End of a rank that ended otherwise than its way says, else None. `ended` is how it ended in words, or
    None where it did not; `code` is the exit code of its way; `left` tells whether it said that it leaves. The wrappers
    of a member report a signal as a shell does, by an exit code above 128. Pure."""
    if ended is None:
        return End.HANG
    by_code = re.fullmatch(r"exit code (\d+)", ended)
    if by_code is None or int(by_code.group(1)) > 128:
        return End.CRASH
    return End.FAILURE if ended != f"exit code {code}" or not left else None


def too_few(outcomes, exits, hand_overs):
    """Returns in words what the outcomes lack of so many exits in a held turn and of so many hand-overs behind them; ""
    where they have enough. Pure."""
    held = sum(outcome.in_turn for outcome in outcomes)
    waits = sum(len(outcome.hand_over_ms) for outcome in outcomes)
    lacks = [f"expected {least} {what}, got {got}" for what, least, got in (
        ("exits in a held turn", exits, held), ("hand-overs behind them", hand_overs, waits)) if got < least]
    return "; ".join(lacks)


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

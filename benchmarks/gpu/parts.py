"""Describes the parts of the suite, and runs one with a time limit in a process of its own session, so that what it
started ends with it.
"""

import contextlib
import multiprocessing
import os
import signal
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.gpu.children import Cannot
from benchmarks.gpu.figures import NONE, Goal, figure
from benchmarks.gpu.rig import sweep_mps


@dataclass(frozen=True)
class Promise:
    """Names a figure of which a part gives at least one line, whatever the machine lacks."""

    name: str
    goal: Goal = NONE
    unit: str = "1"


@dataclass(frozen=True)
class Part:
    """`run(rig)` yields the lines of a part. `limit_s` is the part's time limit. `component`: it measures one part of
    the product alone, or of the driver."""

    name: str
    limit_s: float
    run: object
    promises: tuple
    component: bool = False


def unmeasured_case(part):
    """Returns the case of the lines that say why a part has measured nothing of a figure, or not all of it."""
    return f"not_measured_by_{part.name}"


@dataclass
class Ran:
    """Holds what has become of a part: its lines, and in words why it ended before its own end, or ""."""

    lines: list = field(default_factory=list)
    failure: str = ""

    @property
    def outcome(self):
        if self.failure:
            return f"in part: {self.failure}" if any(line.value is not None for line in self.lines) else (
                f"not run: {self.failure}")
        missed = [f"{line.figure} {line.case}" for line in self.lines if not line.ok]
        return f"missed: {', '.join(missed)}" if missed else "ok"


def unmeasured(part, reason, lines=()):
    """Returns a line for each figure that the part has promised and of which `lines` has none. `reason` is in them."""
    given = {line.figure for line in lines}
    return [figure(promise.name, unmeasured_case(part), None, promise.unit, promise.goal,
                   reason=reason or "no line came") for promise in part.promises if promise.name not in given]


def run(part, rig, limit_s, on_line):
    """Runs a part and returns what has become of it. `on_line` gets each line when it comes, and at last those that
    say why there is none."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_child, args=(sender, rig, part.run))
    child.start()
    sender.close()
    ran = Ran()
    try:
        ran.failure = _listen(receiver, time.monotonic() + limit_s, limit_s, ran.lines, on_line)
    finally:
        _end_session(child)
        sweep_mps(rig)
    # A part that ended early may lack cases of a figure of which it has given others.
    for line in unmeasured(part, ran.failure, () if ran.failure else ran.lines):
        ran.lines.append(line)
        on_line(line)
    return ran


def _listen(receiver, end, limit_s, lines, on_line):
    """Takes lines until the part ends. Returns why it ended before its own end, or ""."""
    try:
        while True:
            if not receiver.poll(max(end - time.monotonic(), 0)):
                return f"no end after {limit_s:.0f} s"
            kind, said = receiver.recv()
            if kind != "line":
                return said
            lines.append(said)
            on_line(said)
    except EOFError:
        return "its process ended"


def _interrupt(*_):
    raise KeyboardInterrupt


def _child(sender, rig, run_part):
    os.setsid()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        reason = _send_lines(sender, rig, run_part)
    except KeyboardInterrupt:
        return
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the parent asks for the end as soon as it has these words
    sender.send(("end", reason))


def _send_lines(sender, rig, run_part):
    """Sends the lines of a part. Returns why it ended before its own end, or ""."""
    try:
        for measured in run_part(rig):
            sender.send(("line", measured))
    except Cannot as reason:
        return str(reason)
    except Exception as fault:  # a fault of the suite, not of the GPU: the other parts go on
        traceback.print_exc()
        return f"{type(fault).__name__}: {fault}"
    return ""


def _end_session(child):
    """Asks the child to clean up, then ends it and all processes that it left in its session."""
    if child.is_alive():
        child.terminate()
        child.join(10)
    for pid in _of_session(child.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.join()


def _of_session(session):
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has ended
        if int(words[3]) == session:
            yield int(stat.parent.name)

"""Runs the processes of a run: started together, never left behind.

The kernel kills every process when this one dies (parent-death signal), so even `kill -9` of the driver leaves none
of its children. Their environment carries a mark by which `find_marked` finds processes that still escaped.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

MARK = "CROSSOVER_SESSION"
_WRAPPERS = ("nsenter", "unshare", "setpriv")  # put before a command; they fork it
_SETPRIV = shutil.which("setpriv")
_ENDING = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Failed(RuntimeError):
    """A process of the run ended in a way that voids the run. The text names it and its last words."""


def await_true(what, condition, patience_s):
    """Waits until `condition` is true. Raises Failed, with what was expected, if that takes more than `patience_s`."""
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"expected {what} within {patience_s:.0f} s")
        time.sleep(0.02)


def dying_with_parent(command):
    """Returns `command`, changed so that it is killed when the process that starts it dies."""
    return [_SETPRIV, "--pdeathsig", "KILL", "--", *command] if _SETPRIV else list(command)


class Processes:
    """A context manager that ends all its processes at its exit, whatever the reason."""

    def __init__(self, mark):
        self.mark = mark
        self.lock = threading.RLock()  # for starts, ends and looks: a supervisor does these on another thread
        self._running = {}
        self._logs = {}
        self._told = set()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        running = [process for process in self._running.values() if process.poll() is None]
        for process in running:
            _signal_all(_inner_family(process.pid), signal.SIGKILL)
        end = time.monotonic() + 0.5
        for process in running:
            _wait_or_kill(process, end)

    def start(self, name, command, env=None, log=None, again=False, **popen):
        """Starts one process. Its output goes to the file `log`; with `again` it is appended."""
        with self.lock:
            self._told.discard(name)
            return self._start(name, command, env, log, "ab" if again else "wb", popen)

    def _start(self, name, command, env, log, mode, popen):
        output = open(log, mode) if log else None
        try:
            full = {**os.environ, MARK: self.mark, **(env or {})}
            process = subprocess.Popen(dying_with_parent(command), env=full, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT if log else None, **popen)
        finally:
            if output:
                output.close()
        self._running[name], self._logs[name] = process, log
        return process

    def wait(self, names, deadline_s):
        """Waits until all of `names` have ended well. Raises Failed for the first that did not, or after the
        deadline."""
        end = time.monotonic() + deadline_s
        left = set(names)
        while left:
            for name in sorted(left):
                if self.ended_well(name):
                    left.discard(name)
            if left and time.monotonic() > end:
                slowest = sorted(left)[0]
                raise Failed(f"{slowest} still runs after {deadline_s:.0f} s; its last words: "
                             f"{self.last_words(slowest)}")
            if left:
                time.sleep(0.05)

    def ended_well(self, name):
        """Returns False while it runs. Raises Failed if it ended with an error."""
        code = self._running[name].poll()
        if code:
            raise Failed(f"{name} ended with {_outcome(code)}; its last words: {self.last_words(name)}")
        return code == 0

    def inner(self, name):
        """Returns the ID of the process itself, without the wrappers that started it."""
        return _unwrapped(self._running[name].pid)

    def signal(self, name, number):
        """Sends a signal to the process itself. Returns the time, by the clock of the logs."""
        with self.lock:
            process = self.inner(name)
            if number in _ENDING:
                self._told.add(name)
            sent_ns = time.monotonic_ns()
            _signal_all([process], number)
        return sent_ns

    def family(self, name):
        """Returns the IDs of the process and of all that it started."""
        return family(self._running[name].pid)

    def alive(self, name):
        return self._running[name].poll() is None

    def ended(self, name):
        """Returns in words how a process ended; None if it runs, or was stopped."""
        with self.lock:
            code = self._running[name].poll() if name in self._running else None
        return None if code is None else _outcome(code)

    def ended_unasked(self, name):
        """Returns the same, but None if `signal` ended it."""
        with self.lock:
            return None if name in self._told else self.ended(name)

    def last_words(self, name):
        log = self._logs.get(name)
        if not log or not Path(log).exists():
            return "(none)"
        lines = Path(log).read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) or "(none)"

    def stop(self, names, grace_s=2.0):
        """Asks processes to end, with all that they started, then kills them."""
        with self.lock:
            stopping = [self._running.pop(name) for name in list(names) if name in self._running]
        stopping = [process for process in stopping if process.poll() is None]
        for process in stopping:
            _signal_all(_inner_family(process.pid), signal.SIGTERM)
        end = time.monotonic() + grace_s
        for process in stopping:
            _wait_or_kill(process, end)


def family(pid):
    """Returns `pid` and all its descendants, the youngest first, so that a parent that waits sees its child end."""
    children = []
    with contextlib.suppress(OSError):  # the process may end meanwhile
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                children += [int(child) for child in task.read_text(encoding="ascii").split()]
    return [member for child in children for member in family(child)] + [pid]


def only_child(pid, patience_s):
    """Returns the child of a process that forks once, or None if it has not forked in time."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        if children:
            return int(children[0])
        time.sleep(0.005)
    return None


def _inner_family(pid):
    """Returns all descendants, or the process itself if it has none.

    A wrapper waits for the process that it wraps and then ends by itself. An orphan would keep its namespaces until
    the machine's init reaps it.
    """
    return family(pid)[:-1] or [pid]


def _unwrapped(pid):
    """Returns the process that the wrappers wait for. It may have children, so the youngest descendant is not always
    right. Raises FileNotFoundError if a process has ended, also if it ends between the opening of a file of it and
    the reading."""
    try:
        return _below_wrappers(pid)
    except ProcessLookupError as ended:
        raise FileNotFoundError(f"process {pid} has ended") from ended


def _below_wrappers(pid):
    while Path(f"/proc/{pid}/comm").read_text(encoding="ascii").strip() in _WRAPPERS:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        if not children:
            break
        pid = int(children[0])
    return pid


def _wait_or_kill(process, end):
    try:
        process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        _signal_all(family(process.pid), signal.SIGKILL)
        process.wait()


def _signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _outcome(code):
    if code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}"


@contextlib.contextmanager
def interruptible():
    """Makes SIGTERM and SIGHUP unwind like Ctrl-C, so that contexts clean up. A second signal does not interrupt
    that."""
    def unwind(number, frame):
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt(signal.Signals(number).name)

    signals = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    before = [signal.signal(each, unwind) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before):
            signal.signal(each, handler)


def until_interrupted():
    """Waits until a signal comes, within `interruptible`.

    A sleep or a pause would not do: a signal that comes just before the system call does not interrupt it. The byte
    that the signal writes into the pipe does.
    """
    wakeup, written = os.pipe()
    os.set_blocking(written, False)
    before = signal.set_wakeup_fd(written)
    try:
        while True:
            os.read(wakeup, 1)
    finally:
        signal.set_wakeup_fd(before)
        os.close(wakeup)
        os.close(written)


def find_marked(mark_prefix):
    """Returns the IDs of other processes whose environment has a mark that starts with `mark_prefix`."""
    wanted = f"{MARK}={mark_prefix}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            variables = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(v.startswith(wanted) for v in variables):
            found.append(int(entry.name))
    return found


def kill_marked(mark_prefix, patience_s=3.0):
    """Kills what `find_marked` finds until nothing is left. Returns how many there were."""
    killed = set()
    empty_looks = 0  # one is not enough: a process has no environment at the moment of its exec
    end = time.monotonic() + patience_s
    while time.monotonic() < end and empty_looks < 2:
        found = find_marked(mark_prefix)
        empty_looks = 0 if found else empty_looks + 1
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.05)
    return len(killed)

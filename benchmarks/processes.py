"""Processes of a run: started together, never left behind.

Every process is told by the kernel to die with this one (parent-death signal), so not even `kill -9` of the driver
leaves any of its children. Its environment carries a mark by which `find_marked` finds what still escaped.
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
_WRAPPERS = ("nsenter", "unshare", "setpriv")  # what a command is entered with here, and what forks
_SETPRIV = shutil.which("setpriv")
_ENDING = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Failed(RuntimeError):
    """A process of the run ended in a way that voids the run; the text names it and its last words."""


def dying_with_parent(command):
    """`command`, to be killed when the process that starts it dies."""
    return [_SETPRIV, "--pdeathsig", "KILL", "--", *command] if _SETPRIV else list(command)


class Processes:
    """A context that ends all its processes on the way out, whatever the way."""

    def __init__(self, mark):
        self.mark = mark
        self.lock = threading.RLock()  # of who starts, ends and looks: a supervisor does so on a thread of its own
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
        """Start one process; its output goes to the file `log`, behind what is there if it is started `again`."""
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
        """Wait until all of `names` have ended well. Failed on the first that did not, or past the deadline."""
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
        """False while it runs; Failed if it ended otherwise."""
        code = self._running[name].poll()
        if code:
            raise Failed(f"{name} ended with {_outcome(code)}; its last words: {self.last_words(name)}")
        return code == 0

    def inner(self, name):
        """ID of the process itself, past the wrappers that started it."""
        return _unwrapped(self._running[name].pid)

    def signal(self, name, number):
        """Send a signal to the process itself. When: on the clock of the logs."""
        with self.lock:
            process = self.inner(name)
            if number in _ENDING:
                self._told.add(name)
            sent_ns = time.monotonic_ns()
            _signal_all([process], number)
        return sent_ns

    def family(self, name):
        """IDs of the process and of all that it started."""
        return family(self._running[name].pid)

    def alive(self, name):
        return self._running[name].poll() is None

    def ended(self, name):
        """How a process ended, in words; None where it runs, or was stopped."""
        with self.lock:
            code = self._running[name].poll() if name in self._running else None
        return None if code is None else _outcome(code)

    def ended_unasked(self, name):
        """The same, None also where `signal` ended it."""
        with self.lock:
            return None if name in self._told else self.ended(name)

    def last_words(self, name):
        log = self._logs.get(name)
        if not log or not Path(log).exists():
            return "(none)"
        lines = Path(log).read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) or "(none)"

    def stop(self, names, grace_s=2.0):
        """Ask processes to end, with all that they started, then make them."""
        with self.lock:
            stopping = [self._running.pop(name) for name in list(names) if name in self._running]
        stopping = [process for process in stopping if process.poll() is None]
        for process in stopping:
            _signal_all(_inner_family(process.pid), signal.SIGTERM)
        end = time.monotonic() + grace_s
        for process in stopping:
            _wait_or_kill(process, end)


def family(pid):
    """`pid` and all its descendants, the youngest first: a parent that waits then sees its child end."""
    children = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children += [int(child) for child in task.read_text(encoding="ascii").split()]
    return [member for child in children for member in family(child)] + [pid]


def only_child(pid, patience_s):
    """The child of a process that forks once; None if it has not by then."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        if children:
            return int(children[0])
        time.sleep(0.005)
    return None


def _inner_family(pid):
    """All descendants, or the process itself if it has none.

    A wrapper is left to wait for what it wraps: it then ends when that has ended. An orphan would keep its
    namespaces standing until the machine's init comes round to reap it.
    """
    return family(pid)[:-1] or [pid]


def _unwrapped(pid):
    """The process that wrappers wait for. It may have children of its own, so the youngest will not do."""
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
    """SIGTERM and SIGHUP unwind like Ctrl-C, so that contexts clean up; a second signal does not cut that short."""
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
    """Wait for ever, within `interruptible`.

    Not by a sleep or a pause: a signal that comes just before the system call does not cut it short. What the
    signal writes into the pipe does.
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
    """Process IDs, outside this one, whose environment carries a mark that starts with `mark_prefix`."""
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
    """Kill what `find_marked` finds until nothing is left; how many there were."""
    killed = set()
    empty_looks = 0  # one alone says little: a process shows no environment at the moment of its exec
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

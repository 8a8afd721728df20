"""Starts programs for a part of the suite. No program outlives the part that starts it."""

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import time

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_LAST_WORDS = 600


class Cannot(RuntimeError):
    """Says that what was asked cannot be measured here. The text says why."""


class Late(Cannot):
    """A program did not end in time."""


class Ended(Cannot):
    """A program ended with an error, or by a signal, whose number is `signal`; 0: none."""

    def __init__(self, text, by_signal=0):
        super().__init__(text)
        self.signal = by_signal


class Started:
    """Starts programs as a context, by _start(), which puts what ends them on `_stack`. Where it fails, what it has
    started ends, too."""

    def __init__(self):
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *exc):
        self._stack.close()

    def _start(self):
        raise NotImplementedError


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def answer(command, environment, timeout_s, preexec=None):
    """Runs a program and returns the last JSON line that it writes. Raises Ended, with the program's last words, where
    it fails or writes none, and Late where it does not end in time."""
    def before():
        os.setpgid(0, 0)  # its children go with it
        _die_with_parent()
        if preexec:
            preexec()
    with _started(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                  text=True, preexec_fn=before) as process:
        try:
            said, complaint = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, complaint = process.communicate()
            raise Late(f"{_name(command)}: no end after {timeout_s:g} s; {_shorten(complaint)}") from None
    lines = [line for line in said.splitlines() if line.startswith("{")]
    if process.returncode != 0 or not lines:
        raise Ended(f"{_name(command)}: ended with {process.returncode}: {_shorten(complaint or said)}",
                    max(0, -process.returncode))
    return json.loads(lines[-1])


def _started(command, **how):
    """Returns the started program. Raises Cannot where it is not there, or this user may not run it."""
    try:
        return subprocess.Popen([str(word) for word in command], **how)
    except OSError as refused:
        raise Cannot(f"{command[0]}: cannot be started: {refused.strerror}") from refused
    except subprocess.SubprocessError as refused:  # what the child does before it becomes the program
        raise Cannot(f"{command[0]}: cannot be started: {refused}") from refused


class Program:
    """Runs a program that is spoken to line by line: words in, JSON lines out. Its standard error goes to a file."""

    def __init__(self, command, environment, log, preexec=None):
        self.name, self._log = _name(command), log
        self._lines, self._partial = [], b""

        def before():
            _die_with_parent()
            if preexec:
                preexec()
        with open(log, "ab") as errors:
            self.process = _started(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=errors, preexec_fn=before)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()

    def say(self, word):
        try:
            self.process.stdin.write(f"{word}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Cannot(f"{self.name} is gone: {self.last_words()}") from None

    def hear(self, timeout_s):
        """Returns the next JSON line. Raises Cannot where the program ends or stays silent for `timeout_s`."""
        end = time.monotonic() + timeout_s
        while not self._lines:
            left = end - time.monotonic()
            ready, _, _ = select.select([self.process.stdout], [], [], max(left, 0))
            if not ready:
                raise Cannot(f"{self.name}: silent for {timeout_s:g} s; {self.last_words()}")
            read = os.read(self.process.stdout.fileno(), 1 << 16)
            if not read:
                raise Cannot(f"{self.name} ended with {self.process.wait()}: {self.last_words()}")
            *whole, self._partial = (self._partial + read).split(b"\n")
            self._lines += [line for line in whole if line.startswith(b"{")]
        return json.loads(self._lines.pop(0))

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self, grace_s=5.0):
        """Ends the program's input, then the program: it terminates and at last kills it, after `grace_s` each."""
        for stream in (self.process.stdin,):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        for how in (None, self.process.terminate, self.process.kill):
            if how:
                how()
            try:
                self.process.wait(grace_s)
                break
            except subprocess.TimeoutExpired:
                continue
        self.process.stdout.close()

    def last_words(self):
        """Returns the end of what the program has written to its standard error, or of what it has written to its
        standard output and was not heard."""
        try:
            complaint = self._log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            complaint = ""
        return _shorten(complaint.strip() or self._unheard())

    def _unheard(self):
        read = self._partial
        while not self.process.stdout.closed and select.select([self.process.stdout], [], [], 0)[0]:
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                break
            read += more
        return read.decode(errors="replace")


def start_service(command, environment, log, ready, timeout_s=10.0, preexec=None):
    """Starts a program that serves until it is ended, and returns it once `ready()` is true. Raises Cannot where that
    does not come in time."""
    service = Program(command, environment, log, preexec)
    end = time.monotonic() + timeout_s
    while not ready():
        if not service.alive() or time.monotonic() > end:
            words = service.last_words()
            service.end(0.2)
            raise Cannot(f"{service.name} did not begin to serve: {words}")
        time.sleep(0.01)
    return service


def stop_service(service):
    """Stops a service. A service does not end with its input, so it is terminated first."""
    service.process.terminate()
    service.end(3.0)


def _name(command):
    return os.path.basename(str(command[0]))


def _shorten(text):
    text = " ".join(text.split())
    return text[-_LAST_WORDS:] or "it said nothing"

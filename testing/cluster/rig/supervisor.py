"""Restarts the daemons of a cluster that end unasked, as an init system does. A scheduler, for example, ends when it
loses its Lease, and on a busy machine it does.

A test that ends a part through Processes starts it again itself, except within `reviving`. The end of a part of
Crossover is still reported: `check` fails for it, even once it runs again.
"""

import contextlib
import sys
import threading
import time
from dataclasses import dataclass

from testing.processes import Failed

_LOOK_EVERY_S = 0.1
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.2, 10.0
_STANDS_AFTER_S = 30.0  # a daemon that ran for so long restarts with the shortest pause again
_MOST_IN_A_ROW = 6


@dataclass
class _Daemon:
    """Records one daemon. `product` marks a part of Crossover, which may not end; the tools of a test may."""

    command: list
    env: dict
    log: object
    product: bool
    started: float
    in_a_row: int = 0
    again_at: float = None  # when it must be restarted; None while it runs
    restarts: int = 0
    faults: int = 0  # how often a part of Crossover ended unasked
    given_up: str = ""


class Supervisor:
    """A Supervisor is a context over `processes`. `say` gets a line for each restart. The pause before a restart begins
    with `first_pause_s` and doubles each time."""

    def __init__(self, processes, say=lambda line: print(line, file=sys.stderr, flush=True),
                 first_pause_s=_FIRST_PAUSE_S):
        self._processes, self._say, self._first_pause_s = processes, say, first_pause_s
        self._daemons = {}
        self._reviving = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def stop(self):
        """Ends the restarts. The kernel ends the processes that this thread has started along with it."""
        self._end.set()
        self._thread.join()

    def start(self, name, command, env=None, log=None, product=False):
        """Starts a daemon, which then runs until Processes.stop ends it. If one of that name runs it is stopped first:
        it may have been restarted a moment ago."""
        with self._processes.lock:
            self._processes.stop([name])
            known = self._daemons.get(name)
            self._daemons[name] = _Daemon(command, env, log, product, time.monotonic(),
                                          restarts=known.restarts if known else 0, faults=known.faults if known else 0)
            return self._processes.start(name, command, env=env, log=log)

    def restarts(self, name):
        """Returns how often the daemon was restarted."""
        return self._daemons[name].restarts

    def check(self):
        """Raises Failed if a part of Crossover has ended unasked, or a daemon ends again and again."""
        for name, daemon in list(self._daemons.items()):
            if daemon.given_up:
                raise Failed(daemon.given_up)
            if daemon.faults:
                raise Failed(f"{name} has ended {daemon.faults} times unasked; see its log: {self._last_words(name)}")

    @contextlib.contextmanager
    def reviving(self):
        """Returns a context in which any daemon may end for any reason. It is started again, as a kubelet starts
        containers.
        """
        with self._processes.lock:
            self._reviving += 1
        try:
            yield
            self._await_all()
        finally:
            with self._processes.lock:
                self._reviving -= 1

    def _await_all(self):
        """Blocks until all daemons run that must run."""
        while any(self._processes.ended(name) for name in list(self._daemons)):
            self.check()
            time.sleep(_LOOK_EVERY_S)

    def look(self):
        """Looks once at all daemons."""
        for name, daemon in list(self._daemons.items()):
            with self._processes.lock:
                if self._daemons[name] is daemon:
                    self._look_at(name, daemon)

    def _run(self):
        while not self._end.wait(_LOOK_EVERY_S):
            self.look()

    def _look_at(self, name, daemon):
        how = self._processes.ended_unasked(name) or (self._reviving and self._processes.ended(name))
        if not how or daemon.given_up:
            daemon.again_at = None
            return
        now = time.monotonic()
        if daemon.again_at is None:
            self._note_end(name, daemon, how, now)
        elif now >= daemon.again_at:
            self._start_again(name, daemon, how, now)

    def _note_end(self, name, daemon, how, now):
        if daemon.product and not self._reviving:
            daemon.faults += 1
        if now - daemon.started >= _STANDS_AFTER_S:
            daemon.in_a_row = 0
        if daemon.in_a_row >= _MOST_IN_A_ROW:
            daemon.given_up = (f"{name} has ended {daemon.in_a_row + 1} times in a row, last with {how}; its last "
                               f"words: {self._last_words(name)}")
            return
        daemon.again_at = now + min(_LONGEST_PAUSE_S, self._first_pause_s * 2 ** daemon.in_a_row)
        daemon.in_a_row += 1

    def _start_again(self, name, daemon, how, now):
        daemon.restarts += 1
        line = f"supervisor: {name} has ended with {how}; it is started again (restart {daemon.restarts})"
        self._say(line)
        if daemon.log:
            with open(daemon.log, "a", encoding="utf-8") as log:
                log.write(line + "\n")
        daemon.again_at, daemon.started = None, now
        self._processes.start(name, daemon.command, env=daemon.env, log=daemon.log, again=True)

    def _last_words(self, name):
        return self._processes.last_words(name)

"""Kills signallers one by one while two jobs take turns by signals, and starts others in their place. `play` does that;
`stalls` reads its trace, and is pure."""

import random
import signal
import time
from dataclasses import dataclass, field

from benchmarks import faults, logs, session, transports
from benchmarks.kills import Kill
from benchmarks.pairs import Shape
from benchmarks.processes import Failed

_MARK = "crossover-kill"
_LONGEST_PAUSE_S = 0.06  # about two cycles, so a kill may come anywhere in a turn or between two
_STEPS_PER_KILL = 200  # of both jobs, more than they make until signals are back
_WITHIN_NS = 3_000_000_000  # how long after a kill a stall still counts as its effect
_LONG_STALL_MS, _PATIENCE_S = 3000, 20.0  # of a control whose jobs stop for good
SIGNALLER = "crossover-signaller"


@dataclass(frozen=True)
class Outcome:
    """`wrong` says what went wrong; "" if nothing did. `stall_ms` has, for each kill, the longest time in which no
    client of that GPU began a turn, from the kill on."""

    kills: tuple
    wrong: str
    stall_ms: tuple


@dataclass
class Scenario:
    """Kills so many signallers, each once all clients take turns by signals. Once some client does not any more,
    another signaller is started: this program, or none if it is None. After one that is not the shipped signaller the
    run ends as soon as it shows a long stall."""

    moments: int
    seed: int
    successor: str | None = SIGNALLER
    kills: list = field(default_factory=list)
    stall_ms: tuple = ()  # of a run that ended so

    def __post_init__(self):
        self.shape = Shape(0.6, compute_ms=10.0, iterations=self.moments * _STEPS_PER_KILL,
                           fault=faults.TWO_QUEUES)

    def plan(self, library, isolated):
        jobs = tuple(self.shape.job(name, seed) for seed, name in enumerate(("alpha", "beta"), 1))
        return session.Plan(self.shape.machine(), jobs, library, isolated=isolated, during=self._during,
                            environment=self.shape.environment(), daemon_settings=faults.SIGNALS, signallers=1,
                            expendable=("alpha", "beta"))

    def _during(self, running):
        draw = random.Random(self.seed)
        for _ in range(self.moments):
            transports.await_signals(running, 2 * running.machine.ranks)
            time.sleep(draw.uniform(0, _LONGEST_PAUSE_S))
            rank = draw.randrange(running.machine.ranks)
            node, gpu = running.machine.place(rank)
            sent_ns = running.processes.signal(session.signaller_name(node, gpu), signal.SIGKILL)
            self.kills.append(Kill(sent_ns, running.gpu_of(rank), ""))
            transports.await_other_gates(running, 2 * running.machine.ranks)
            if self.successor is not None:
                running.start_signaller(node, gpu, program=self.successor)
            if self.successor not in (None, SIGNALLER):
                self._end_by_a_stall(running)
        transports.await_signals(running, 2 * running.machine.ranks)

    def _end_by_a_stall(self, running):
        end = time.monotonic() + _PATIENCE_S
        while max(self.stall_ms, default=0) < _LONG_STALL_MS and time.monotonic() < end:
            time.sleep(0.1)
            trace = logs.read_traces(running.trace_file(node) for node in range(running.machine.nodes))
            self.stall_ms = tuple(stalls(trace, self.kills, time.monotonic_ns()))
        raise Failed(f"the longest stall: {max(self.stall_ms, default=0):.0f} ms")


def play(build, scenario, library, isolated=True):
    """Plays one run. It is wrong if a job ends meanwhile, or signals do not come back."""
    try:
        result = session.run(build, scenario.plan(library, isolated), _MARK)
    except Failed as failure:
        return Outcome(tuple(scenario.kills), str(failure), scenario.stall_ms)
    return Outcome(tuple(scenario.kills), "", tuple(stalls(result.trace, scenario.kills)))


def stalls(trace, kills, until_ns=None):
    """Yields, for each kill, the longest time in ms in which no turn begins on that GPU, of those that begin within
    three seconds of the kill. One that lasts past the end of the trace counts up to there, or up to `until_ns`."""
    last = until_ns or max((event.t_ns for event in trace), default=0)
    for kill in kills:
        begins = [event.t_ns for event in trace
                  if event.gpu == kill.gpu and event.event == "hold" and kill.t_ns <= event.t_ns]
        edges = [kill.t_ns, *begins, max(last, kill.t_ns)]
        yield max(after - before for before, after in zip(edges, edges[1:])
                  if before <= kill.t_ns + _WITHIN_NS) / 1e6

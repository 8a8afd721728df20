"""Kills signallers one by one while two jobs take turns by signals, and starts others in their place. `play` does that;
`stalls` reads its trace, and is pure."""

import random
import signal
import time
from dataclasses import dataclass, field

from benchmarks.faults.rank_kills import Kill
from testing import faults, session, transports
from testing.pairs import Shape
from testing.processes import Failed

_MARK = "crossover-kill"
_LONGEST_PAUSE_S = 0.06  # about two cycles, so a kill may come anywhere in a turn or between two
_STEPS_PER_KILL = 200  # of both jobs, more than they make until signals are back
_WITHIN_NS = 3_000_000_000  # how long after a kill a stall still counts as its effect
_STOPPED_S = 3.0  # in the control of stalls


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
    another signaller is started, if `again` says so. `stops`: all processes of both jobs on that GPU are stopped for
    three seconds after each kill."""

    moments: int
    seed: int
    again: bool = True
    stops: bool = False
    kills: list = field(default_factory=list)

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
            if self.stops:
                faults.stop_for(running, [running.rank_name(job, rank) for job in running.plan.jobs], _STOPPED_S)
            transports.await_other_gates(running, 2 * running.machine.ranks)
            if self.again:
                running.start_signaller(node, gpu)
        transports.await_signals(running, 2 * running.machine.ranks)


def play(build, scenario, library, isolated=True):
    """Plays one run. It is wrong if a job ends meanwhile, or signals do not come back."""
    try:
        result = session.run(build, scenario.plan(library, isolated), _MARK)
    except Failed as failure:
        return Outcome(tuple(scenario.kills), str(failure), ())
    return Outcome(tuple(scenario.kills), "", tuple(stalls(result.trace, scenario.kills)))


def stalls(trace, kills):
    """Yields, for each kill, the longest time in ms in which no turn begins on that GPU, of those that begin within
    three seconds of the kill. One that lasts past the end of the trace counts up to there."""
    last = max((event.t_ns for event in trace), default=0)
    for kill in kills:
        begins = [event.t_ns for event in trace
                  if event.gpu == kill.gpu and event.event == "hold" and kill.t_ns <= event.t_ns]
        edges = [kill.t_ns, *begins, max(last, kill.t_ns)]
        yield max(after - before for before, after in zip(edges, edges[1:])
                  if before <= kill.t_ns + _WITHIN_NS) / 1e6

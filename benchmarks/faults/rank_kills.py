"""Kills the ranks of jobs one by one and starts the jobs again, beside a job that must not notice.

`play` does that; `hand_overs`, `false_deaths` and `states` read its trace, and are pure.
"""

import contextlib
import random
import signal
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

from testing import session, transports
from testing.faults import SIGNALS, TWO_QUEUES
from testing.pairs import Shape
from testing.processes import Failed

SURVIVOR = "alpha"
_VICTIMS = ("beta", "gamma", "delta")
_MARK = "crossover-kill"
_PATIENCE_S = 20.0  # for a job to take turns on all its GPUs
# Seconds between two kills: about two cycles, so a kill may come anywhere in a turn or between two.
_LONGEST_PAUSE_S = 0.06
# With that, the kernel needs some time to tear the process down, as for any real trainer.
_HEAVY = ("--host-memory-mib=256",)
_STEPS_PER_ROUND = 200  # of the survivor, more than it makes while its neighbours are killed and started


def ranks_of(jobs):
    """Returns the ranks of each job. Two cores cannot run more than a dozen trainers in time, and a dying process
    needs one as well."""
    return 4 if jobs < 4 else 2


@dataclass(frozen=True)
class Kill:
    t_ns: int
    gpu: str
    gang: str
    gates: str = ""  # of the victim's job, as in CROSSOVER_GATES


@dataclass(frozen=True)
class Outcome:
    """`wrong` says what went wrong; "" if nothing did. `hand_over_ms` is the time until the next client held the
    turn: from the kill of the holder, or from the moment at which the next client was ready, if that came later."""

    kills: tuple
    wrong: str
    hand_over_ms: tuple
    false_deaths: int
    states: dict = field(default_factory=dict)  # kills by what the victim did, in words


@dataclass
class Scenario:
    """Plays rounds: starts the victims, waits until they take turns, kills their ranks in random order at random
    times. With signallers the victims of every second round have host words."""

    jobs: int
    rounds: int
    seed: int
    signallers: int = 0  # for each GPU; the daemons then offer signals in device memory
    variant: str = "plain"
    settings: tuple = ()  # as of pairs.Shape
    kills: list = field(default_factory=list)
    early: str = ""  # why it ended before the last round

    def __post_init__(self):
        self.shape = Shape(0.6, compute_ms=10.0, ranks=ranks_of(self.jobs), iterations=self.rounds * _STEPS_PER_ROUND,
                           jobs=self.jobs, variant=self.variant, settings=self.settings,
                           fault=TWO_QUEUES if self.signallers else "")
        self.victims = [[replace(self.shape.job(f"{gang}{number}", number), gang=gang, extra=_HEAVY,
                                 environment={"CROSSOVER_GATES": self.gates(number)} if self.signallers else {})
                         for gang in _VICTIMS[:self.jobs - 1]] for number in range(self.rounds)]

    def gates(self, number):
        """Returns the gates of the victims of a round, as in CROSSOVER_GATES."""
        return "ipc" if self.signallers and number % 2 == 0 else "gpu"

    def plan(self, library, isolated, settings=(), environment=None):
        mortal = tuple(job for round_ in self.victims for job in round_)
        names = tuple(job.name for job in mortal)
        survivor = replace(self.shape.job(SURVIVOR, 99), environment=environment or {})
        return session.Plan(self.shape.machine(), (survivor, *mortal), library, isolated=isolated, late=names,
                            expendable=names, during=self._during, signallers=self.signallers,
                            environment=self.shape.environment(),
                            daemon_settings=(*settings, *(SIGNALS if self.signallers else ())))

    def _during(self, running):
        draw = random.Random(self.seed)
        tails = [running.trace_tail(node) for node in range(running.machine.nodes)]
        for number, jobs in enumerate(self.victims):
            if not running.processes.alive(f"{SURVIVOR}-rank0"):
                self.early = f"the survivor ended after {len(self.kills)} kills"
                return
            for job in jobs:
                running.start_late(job.name)
            if self.signallers:
                by_signals = 1 if self.gates(number) == "gpu" else self.jobs
                transports.await_counts(running, {"ipc": by_signals * running.machine.ranks,
                                                  "gpu": (self.jobs - by_signals) * running.machine.ranks})
            ranks = [(job, rank) for job in jobs for rank in range(running.machine.ranks)]
            running.wait_for_turns(tails, {(running.gpu_of(rank), job.gang) for job, rank in ranks}, _PATIENCE_S)
            for job, rank in draw.sample(ranks, len(ranks)):
                time.sleep(draw.uniform(0, _LONGEST_PAUSE_S))
                with contextlib.suppress(FileNotFoundError):  # it ended with another rank of its job
                    sent_ns = running.processes.signal(running.rank_name(job, rank), signal.SIGKILL)
                    self.kills.append(Kill(sent_ns, running.gpu_of(rank), job.gang, self.gates(number)))


def play(build, scenario, library, isolated=True, settings=(), environment=None):
    """Plays one run. The outcome is wrong if the survivor hangs or has wrong losses, or if a victim never takes
    turns."""
    plan = scenario.plan(library, isolated, settings, environment)
    try:
        result = session.run(build, plan, _MARK)
    except Failed as failure:
        return Outcome(tuple(scenario.kills), str(failure), (), 0)
    wrong = scenario.early
    if result.job(SURVIVOR).digest != session.digest_alone(build, plan.machine, plan.jobs[0]):
        wrong = "the survivor's losses are not those that it has alone"
    return Outcome(tuple(scenario.kills), wrong, tuple(hand_overs(result.trace, scenario.kills)),
                   false_deaths(result.trace, scenario.kills, result.job(SURVIVOR).span(0)[1]),
                   Counter(states(result.trace, scenario.kills)))


def hand_overs(trace, kills):
    """Yields, for each kill of a holder, the milliseconds until the next client that was ready held the turn. If no
    other client was left to take turns with, it is the time until that client's gate was opened for good. Yields
    nothing for a kill after which no client was ready within a second.
    """
    by_gpu = defaultdict(list)
    for event in trace:
        by_gpu[event.gpu].append(event)
    for kill in kills:
        holder, found = None, None
        asked = {}  # by slot: when it asked for a turn that it has not had yet
        for event in by_gpu[kill.gpu]:
            dead = event.t_ns > kill.t_ns
            if dead and (holder != kill.gang or event.t_ns - kill.t_ns > 1e9):
                break
            if event.event == "arrive":
                asked[event.slot] = event.t_ns
            elif event.event == "hold":
                arrived = asked.pop(event.slot, event.t_ns)
                if dead and event.gang != kill.gang:
                    found = (event.t_ns - max(kill.t_ns, arrived)) / 1e6
                    break
                holder = event.gang
            elif event.event == "mode" and event.mode != "gate":
                if dead and event.gang != kill.gang and event.slot in asked:
                    found = (event.t_ns - kill.t_ns) / 1e6
                if dead:
                    break
                holder = None
            elif event.event in ("release", "leave"):
                asked.pop(event.slot, None)
                if not dead and event.gang == holder:
                    holder = None
        if found is not None:
            yield found


HOLDS, WAITS_FOR_A_SIGNAL, WAITS_AT_A_GATE, OUTSIDE = (
    "holds the turn", "waits for a signal", "waits at a gate", "is outside its turns")


def states(trace, kills):
    """Yields, for each kill, what the victim did at that moment: one of the four above."""
    for kill in kills:
        last = next((event.event for event in reversed(trace) if event.t_ns <= kill.t_ns and event.gpu == kill.gpu
                     and event.gang == kill.gang and event.event in ("arrive", "hold", "release", "join", "leave")), "")
        waits = WAITS_FOR_A_SIGNAL if kill.gates == "ipc" else WAITS_AT_A_GATE
        yield {"hold": HOLDS, "arrive": waits}.get(last, OUTSIDE)


def false_deaths(trace, kills, survivor_end_ns):
    """Returns how many clients were given up although none of their job's ranks was killed. Clients of a job that
    lost a rank do not count: they may end by themselves."""
    joined, count = {}, 0
    for event in trace:
        if event.event == "join":
            joined[event.gpu, event.slot] = event.t_ns
        elif event.event == "leave":
            since = joined.pop((event.gpu, event.slot), 0)
            lost_one = any(k.gang == event.gang and since <= k.t_ns <= event.t_ns for k in kills)
            count += not lost_one and not (event.gang == SURVIVOR and event.t_ns >= survivor_end_ns)
    return count

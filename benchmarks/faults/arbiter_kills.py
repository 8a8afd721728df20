"""Restarts the arbiter under two jobs that take turns. Checks which jobs stop, how soon turns are back, and whether
the daemon's statistics are right then."""

import random
import signal
import time
from dataclasses import dataclass, field

from testing import session
from testing.pairs import Shape
from testing.processes import Failed

_MARK = "crossover-restart"
_SETTLED_S = 0.5  # longest time between two kills in which jobs take turns
_LONGEST_AWAY_S = 0.2
PATIENCE_S = 5.0  # for turns to come back
_ITERATIONS_PER_KILL = 110  # more than a job makes between two kills


@dataclass
class Scenario:
    """One run with `kills` kills of the arbiter of a random node. Each arbiter is started again at once or soon."""

    kills: int
    seed: int
    resumed_ms: list = field(default_factory=list)  # since each start of an arbiter
    books: list = field(default_factory=list)  # what was wrong with the daemon's statistics

    def __post_init__(self):
        self.shape = Shape(0.6, compute_ms=10.0, iterations=self.kills * _ITERATIONS_PER_KILL)

    def plan(self, library, isolated=True, environment=None):
        jobs = tuple(self.shape.job(name, seed) for seed, name in enumerate(("alpha", "beta"), 1))
        return session.Plan(self.shape.machine(), jobs, library, isolated=isolated, expendable=("arbiters",),
                            environment=environment or {}, during=self._during)

    def _during(self, running):
        draw = random.Random(self.seed)
        tails = [running.trace_tail(node) for node in range(running.machine.nodes)]
        for node, tail in enumerate(tails):
            _wait_for_turns(running, node, tail)
        for _ in range(self.kills):
            node = draw.randrange(running.machine.nodes)
            time.sleep(draw.uniform(0, _SETTLED_S))
            running.processes.signal(f"arbiter{node}", signal.SIGKILL)
            time.sleep(draw.choice((0.0, draw.uniform(0, _LONGEST_AWAY_S))))
            started_ns = time.monotonic_ns()
            running.restart_arbiter(node)
            self.resumed_ms.append((_wait_for_turns(running, node, tails[node]) - started_ns) / 1e6)
            self.books += wrong_in_books(running.top(node), running.machine, node)


def play(build, scenario, library, isolated=True, environment=None):
    """Returns what went wrong in the run, or ""."""
    plan = scenario.plan(library, isolated, environment)
    try:
        result = session.run(build, plan, _MARK)
    except Failed as failure:
        return str(failure)
    wrong = session.with_wrong_losses(build, plan, result)
    return f"wrong losses: {' and '.join(wrong)}" if wrong else ""


def _wait_for_turns(running, node, tail):
    """Waits until both jobs have a turn on every GPU of a node. Returns when the last of these turns began."""
    gpus = [running.machine.uuid(node, gpu) for gpu in range(running.machine.gpus_per_node)]
    return running.wait_for_turns([tail], {(gpu, job.name) for gpu in gpus for job in running.plan.jobs}, PATIENCE_S)


def wrong_in_books(top, machine, node):
    """Returns what is wrong in `crossover top -o json` of a node on which only alpha and beta, with all ranks, have
    taken turns since the daemon began."""
    expected = {(name, rank, machine.uuid(node, gpu)) for name in ("alpha", "beta")
                for rank in range(machine.ranks) for where, gpu in [machine.place(rank)] if where == node}
    clients = [client for job in top["jobs"] for client in job["clients"]]
    found = {(client["gang"], client["rank"], client["gpu_uuid"]) for client in clients}
    wrong = [f"clients {sorted(found)}"] if found != expected or len(clients) != len(expected) else []
    for client in clients:
        who = f"{client['gang']} rank {client['rank']}"
        if client["phase"] != "taking" or client["offender"] or client["turns"] < 1:
            wrong.append(f"{who}: phase {client['phase']}, offender {client['offender']}, {client['turns']} turns")
        if client["connected_s"] > top["daemon"]["uptime_s"]:
            wrong.append(f"{who} has been connected for longer than the daemon has run")
    for gpu in top["gpus"]:
        if len(gpu["holders"]) > 1 or gpu["offenders"] or gpu["clients"] != 2 or gpu["watchdog_openings"]:
            wrong.append(f"gpu {gpu}")
    return wrong

"""Holds what both kinds of the demo share: the two jobs, how runs of them are judged, and the files that are written.
"""

import json
from dataclasses import dataclass

from testing import bounds, evaluate
from testing.commands import GRADIENT_BYTES, Job
from testing.machine import COLLECTIVE_CTAS, SMS, Machine, link_speed_for
from tools.demo import perfetto, report, table
from tools.demo.turns import turns_of, without_turns

MARK = "crossover-demo"
WARM_UP = 25
COMPUTE_MS = 20.0
EXPOSED_MS = 12.0
ITERATIONS = 150
NAMES = ("alpha", "beta")

NOTES = (
    "The GPUs are software: processes, sockets, shared memory, the library and the arbiters are real, kernels are "
    "timed stand-ins around real arithmetic, and their multiprocessors are counted, not driven.",
    "Both nodes are this machine; their network is TCP shaped to a link speed, not a wire.",
    "Two equal jobs whose communication is exposed: a job that already hides its communication gains nothing.",
    "One run of each row; the benchmarks take the median of five and hold them to goals.",
)


@dataclass(frozen=True)
class Together:
    """Holds a run of both jobs at once: its name, the logs of the jobs, and, in `remark`, why it is not to be
    trusted."""

    name: str
    logs: tuple
    remark: str = ""


@dataclass(frozen=True)
class Turns:
    """Holds what is drawn of the run with Crossover: the arbiters' events, and the logs of the jobs."""

    trace: tuple
    jobs: tuple


def machine():
    return Machine(node_link_bytes_per_s=link_speed_for(EXPOSED_MS / 1e3, GRADIENT_BYTES, 4))


def jobs(iterations=ITERATIONS, names=NAMES, first=1):
    """Returns the jobs. `first` is the seed of the first one; the seed decides what a job trains."""
    return tuple(Job(name, seed, COMPUTE_MS, iterations) for seed, name in enumerate(names, first))


def judge(alone, together, turns, conditions, remark="", notes=NOTES):
    """Returns the outcome. `alone` has the log of each job that ran alone. `together` is a list of Together, the last
    one with Crossover. `turns` are those of that last run."""
    solos = [evaluate.solo_of(log, WARM_UP) for log in alone]
    shapes = [bounds.one_turn(s.compute_ms, s.exposed_ms, s.exposed_ms) for s in solos]
    bound = bounds.cycle_bound(shapes, COLLECTIVE_CTAS, SMS)
    steps = tuple(s.step_ms for s in solos)
    rows = [table.Row("alone, one after the other", steps, 1.0, bound / sum(steps), None, remark)]
    for run in together:
        shared = evaluate.shared_of(list(run.logs), solos, bound, WARM_UP, [log.digest for log in alone])
        rows.append(table.Row(run.name, shared.cycles_ms, shared.gain, shared.eta, shared.losses_identical, run.remark))
    return table.Outcome(
        jobs=NAMES, rows=tuple(rows), bound_ms=bound, plain_bound_ms=bounds.cycle_bound(shapes),
        compute_ms=sum(s.compute_ms for s in solos) / len(solos),
        exposed_ms=sum(s.exposed_ms for s in solos) / len(solos),
        conditions=tuple(conditions), notes=notes, faults=_faults(rows, turns))


def in_words(of, summary):
    """Returns lines about the machine and the jobs, for the conditions."""
    return [f"{of.nodes} nodes with {of.gpus_per_node} software GPUs each of {SMS} multiprocessors; "
            f"collectives hold {of.nccl_ctas} of them",
            f"two jobs of {of.ranks} ranks, data-parallel training on the UCI optical digits; kernels: "
            f"{summary.get('kernels', 'unknown')}",
            f"node links of {of.node_link_bytes_per_s / 1e6:.2f} MB/s each way, shared by both jobs"]


def _faults(rows, turns):
    """Returns faults that must not occur, however busy the machine is."""
    faults = [f"{row.name}: the losses are not those of the jobs alone" for row in rows
              if row.losses is False]
    if not any(event.event == "hold" for event in turns.trace):
        faults.append("Crossover: no job took turns")
    return tuple(faults)


def write(outcome, turns, directory):
    """Writes the report, its picture and the trace. Returns the paths of the report and the trace."""
    directory.mkdir(parents=True, exist_ok=True)
    page, trace = directory / "report.html", directory / "trace.json"
    complete = turns_of(turns.trace)
    page.write_text(report.html(outcome, complete, without_turns(turns.trace)), encoding="utf-8")
    if complete:
        (directory / "turns.svg").write_text(report.picture(complete), encoding="utf-8")
    trace.write_text(json.dumps(perfetto.chrome_trace(turns.trace, turns.jobs)), encoding="utf-8")
    return page, trace

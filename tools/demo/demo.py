"""The demo's course: each job alone, together in two free-running modes, then with Crossover."""

import json
import time
from dataclasses import dataclass

from benchmarks import bounds, evaluate, session
from benchmarks.commands import GRADIENT_BYTES, Job
from benchmarks.machine import COLLECTIVE_CTAS, SMS, Machine, link_speed_for
from tools.demo import perfetto, report, table
from tools.demo.turns import turns_of

MARK = "crossover-demo"
WARM_UP = 25
COMPUTE_MS = 20.0
EXPOSED_MS = 12.0
ITERATIONS = 150
PATIENCE_S = 90
# What the runs after a repeat may still need.
TAIL_S = 25

NOTES = (
    "The GPUs are software: processes, sockets, shared memory, the library and the arbiters are real, kernels are "
    "timed stand-ins around real arithmetic, and their multiprocessors are counted, not driven.",
    "Both nodes are this machine; their network is TCP shaped to a link speed, not a wire.",
    "Two equal jobs whose communication is exposed: a job that already hides its communication gains nothing.",
    "One run of each row; the benchmarks take the median of five and hold them to goals.",
)


@dataclass
class Demo:
    """One demo. `say`: where progress goes."""

    build: object
    say: object
    isolated: bool = True
    keep: object = None

    def run(self):
        """(outcome, result of the run with Crossover)."""
        self._began = time.monotonic()
        machine = Machine(node_link_bytes_per_s=link_speed_for(EXPOSED_MS / 1e3, GRADIENT_BYTES, 4))
        jobs = tuple(Job(name, seed, COMPUTE_MS, ITERATIONS) for seed, name in enumerate(("alpha", "beta"), 1))
        alone = [self._run(f"{job.name} alone", machine, (job,)) for job in jobs]
        slicing = self._run("both, free-running, time-slicing", machine.with_mode("timeslice"), jobs)
        packed = self._run("both, free-running, MPS", machine, jobs)
        ours = self._run("both, Crossover", machine, jobs, library=self.build.library)
        return self._judge(machine, jobs, alone, (slicing, packed, ours)), ours

    def _run(self, what, machine, jobs, library=None):
        began = time.monotonic()
        self.say(f"  {what} ...")
        plan = session.Plan(machine, jobs, library, isolated=self.isolated)
        result = session.run_valid(self.build, plan, MARK, self.keep and self.keep / _slug(what),
                                   lambda text: self.say(f"    {text}"), self._may_repeat, patience_s=0.0)
        remark = _remark(result)
        self.say(f"  {what}: {time.monotonic() - began:.1f} s, {result.load.cpu:.0%} of all cores"
                 + (f", {remark}" if remark else ""))
        return result

    def _may_repeat(self, seconds):
        """A demo that nobody waits for shows nothing: void runs are repeated while there is time, else marked."""
        return time.monotonic() - self._began + seconds < PATIENCE_S - TAIL_S

    def _judge(self, machine, jobs, alone, together):
        logs_alone = [result.job(job.name) for result, job in zip(alone, jobs)]
        solos = [evaluate.solo_of(log, WARM_UP) for log in logs_alone]
        shapes = [bounds.one_turn(s.compute_ms, s.exposed_ms, s.exposed_ms) for s in solos]
        bound = bounds.cycle_bound(shapes, COLLECTIVE_CTAS, SMS)
        steps = tuple(s.step_ms for s in solos)
        best = sum(steps) / bound
        rows = [table.Row("alone, one after the other", steps, 1.0, 1.0 / best, None,
                          _remark(*alone))]
        names = ("free-running, time-slicing", "free-running, MPS", "Crossover")
        for name, result in zip(names, together):
            shared = evaluate.shared_of([result.job(j.name) for j in jobs], solos, bound, WARM_UP,
                                        [log.digest for log in logs_alone])
            rows.append(table.Row(name, shared.cycles_ms, shared.gain, shared.eta, shared.losses_identical,
                                  _remark(result)))
        return table.Outcome(
            jobs=tuple(j.name for j in jobs), rows=tuple(rows), bound_ms=bound,
            plain_bound_ms=bounds.cycle_bound(shapes),
            compute_ms=sum(s.compute_ms for s in solos) / len(solos),
            exposed_ms=sum(s.exposed_ms for s in solos) / len(solos),
            conditions=self._conditions(machine, logs_alone, together[-1]), notes=NOTES,
            faults=_faults(rows, together[-1]))

    def _conditions(self, machine, logs_alone, ours):
        summary = logs_alone[0].ranks[0].summary
        lines = [f"{machine.nodes} nodes with {machine.gpus_per_node} software GPUs each of {SMS} multiprocessors; "
                 f"collectives hold {machine.nccl_ctas} of them",
                 f"two jobs of {machine.ranks} ranks, data-parallel training on the UCI optical digits; kernels: "
                 f"{summary.get('kernels', 'unknown')}",
                 f"node links of {machine.node_link_bytes_per_s / 1e6:.2f} MB/s each way, shared by both jobs",
                 ours.isolation]
        if ours.refused:
            lines.append(f"namespaces were refused here: {ours.refused}")
        lines.append(f"with Crossover {ours.load.cpu:.0%} of all cores were used; at p99 kernels came "
                     f"{ours.load.kernel_p99_us:.0f} us late, ring steps {ours.load.ring_p99_us:.0f} us")
        return tuple(lines)


def _faults(rows, ours):
    """What must not be, however busy the machine is."""
    faults = [f"{row.name}: the losses are not those of the jobs alone" for row in rows
              if row.losses is False]
    if not any(event.event == "hold" for event in ours.trace):
        faults.append("Crossover: nobody took turns")
    return tuple(faults)


def _remark(*results):
    """Which runs are void, and why; each reason once."""
    reasons = dict.fromkeys(result.load.void for result in results if result.load.void)
    return f"void: {'; '.join(reasons)}" if reasons else ""


def write(outcome, ours, directory):
    """The report, its picture and the trace; the paths of report and trace."""
    directory.mkdir(parents=True, exist_ok=True)
    page, trace = directory / "report.html", directory / "trace.json"
    turns = turns_of(ours.trace)
    page.write_text(report.html(outcome, turns), encoding="utf-8")
    if turns:
        (directory / "turns.svg").write_text(report.picture(turns), encoding="utf-8")
    trace.write_text(json.dumps(perfetto.chrome_trace(ours.trace, ours.jobs.values())), encoding="utf-8")
    return page, trace


def _slug(what):
    return "-".join("".join(c if c.isalnum() else " " for c in what).split())

"""Runs the demo without a cluster: two jobs on two nodes of plain processes, in namespaces if that is allowed. Each
job runs alone, then both run in two free-running modes, then with Crossover.
"""

import time
from dataclasses import dataclass

from testing import session
from tools.demo import demo

PATIENCE_S = 90
# The runs after a repeat may still need this time.
TAIL_S = 25


@dataclass
class ProcessDemo:
    """Runs the demo in processes. `say` takes lines of progress. `keep` is a folder for all logs, or None."""

    build: object
    say: object
    isolated: bool = True
    keep: object = None

    def run(self):
        """Runs all jobs and returns (outcome, demo.Turns)."""
        self._began = time.monotonic()
        machine, jobs = demo.machine(), demo.jobs()
        alone = [self._run(f"{job.name} alone", machine, (job,)) for job in jobs]
        slicing = self._run("both, free-running, time-slicing", machine.with_mode("timeslice"), jobs)
        packed = self._run("both, free-running, MPS", machine, jobs)
        ours = self._run("both, Crossover", machine, jobs, library=self.build.library)
        turns = demo.Turns(ours.trace, tuple(ours.jobs.values()))
        together = [demo.Together(name, tuple(result.job(job.name) for job in jobs), _remark(result)) for name, result
                    in (("free-running, time-slicing", slicing), ("free-running, MPS", packed), ("Crossover", ours))]
        logs = [result.job(job.name) for result, job in zip(alone, jobs)]
        return demo.judge(logs, together, turns, _conditions(machine, logs, ours), _remark(*alone)), turns

    def _run(self, what, machine, jobs, library=None):
        began = time.monotonic()
        self.say(f"  {what} ...")
        plan = session.Plan(machine, jobs, library, isolated=self.isolated)
        result = session.run_valid(self.build, plan, demo.MARK, self.keep and self.keep / _slug(what),
                                   lambda text: self.say(f"    {text}"), self._may_repeat, patience_s=0.0)
        remark = _remark(result)
        self.say(f"  {what}: {time.monotonic() - began:.1f} s, {result.load.cpu:.0%} of all cores"
                 + (f", {remark}" if remark else ""))
        return result

    def _may_repeat(self, seconds):
        """Tells whether there is time to repeat a void run that took `seconds`. Users do not wait long for a demo, so
        later void runs are only marked."""
        return time.monotonic() - self._began + seconds < PATIENCE_S - TAIL_S


def _conditions(machine, logs, ours):
    lines = [*demo.in_words(machine, logs[0].ranks[0].summary), ours.isolation]
    if ours.refused:
        lines.append(f"namespaces were refused here: {ours.refused}")
    lines.append(f"with Crossover {ours.load.cpu:.0%} of all cores were used; at p99 kernels came "
                 f"{ours.load.kernel_p99_us:.0f} us late, ring steps {ours.load.ring_p99_us:.0f} us")
    return lines


def _remark(*results):
    """Returns why runs are void, each reason once, or "" if none is."""
    reasons = dict.fromkeys(result.load.void for result in results if result.load.void)
    return f"void: {'; '.join(reasons)}" if reasons else ""


def _slug(what):
    return "-".join("".join(c if c.isalnum() else " " for c in what).split())

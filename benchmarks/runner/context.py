"""Gives a figure what it needs to measure: the build, valid runs, and notes about runs that were void or failed."""

import contextlib
from dataclasses import dataclass, field, replace

from benchmarks.runner.results import controlled
from testing import pairs, session
from testing.commands import is_known_bad


@dataclass
class Context:
    """What a figure measures with: the build, where to print, and how many runs make a median."""

    build: object
    say: object = print
    runs: int = 5
    isolated: bool = True
    keep: object = None
    settings: tuple = ()  # of every arbiter, in addition to those of the plan
    quiet_until: float = 0.0  # time.monotonic(); until then a void run is made again
    # Runs that were void; they were made again, or are missing.
    voids: list = field(default_factory=list)
    # Runs that crashed or hung, and files that were missing; they are not made again.
    failures: list = field(default_factory=list)
    runs_taken: list = field(default_factory=list)  # load and conditions of every timed run

    def session(self, plan, timed=True):
        """Returns the result of a valid run. Returns None if the run was void to the end or failed, and records why.
        If times do not matter, the machine may be busy."""
        plan = self._with_settings(plan)
        try:
            if not timed:
                return session.run(self.build, plan, pairs.MARK, self.keep)
            result = session.run_valid(self.build, plan, pairs.MARK, self.keep, self._say_aside, until=self.quiet_until,
                                       on_void=lambda result: self._void(plan, result))
            self.runs_taken.append({**run_of(plan), "isolated": result.isolated, **result.load.as_dict()})
            self.say(f"      {result.load.in_words()}")
        except session.Failed as failure:
            self.fail(str(failure), run_of(plan))
            return None
        return None if result.load.void else result

    def fail(self, why, run=None):
        """Records a failure. The case is then not ok, and is not measured again."""
        self.failures.append({**(run or {}), "why": why})
        self._say_aside(why)

    def has(self, library):
        """Returns whether the library is built; records a failure if it is not."""
        if not library.exists():
            self.fail(f"{library.name} is not built")
        return library.exists()

    @contextlib.contextmanager
    def without_guard(self):
        """Switches the guard off, for a known-bad library and for the shipped one that it is compared with. The guard
        would find a way around the planted fault. Without it the two differ in that fault alone."""
        before, self.settings = self.settings, (*self.settings, "guard: off")
        try:
            yield
        finally:
            self.settings = before

    def controlled(self, goal, what, name, measure):
        """Returns a Control: `measure` of the known-bad library `name` and of the shipped one, both without the
        guard."""
        with self.without_guard():
            shipped = measure(self.build.library)
            return controlled(goal, what, measure(self.build.known_bad(name)), shipped)

    def take_notes(self):
        """Returns (what belongs to the result, remarks) about the runs since the last call."""
        published = {"voids": self.voids, "failures": self.failures}
        remarks = {"loads": self.runs_taken}
        self.voids, self.failures, self.runs_taken = [], [], []
        return tuple({name: note for name, note in notes.items() if note} for notes in (published, remarks))

    def _with_settings(self, plan):
        if plan.library is None or not self.settings:
            return plan
        named = {line.partition(":")[0] for line in plan.daemon_settings}
        more = tuple(line for line in self.settings if line.partition(":")[0] not in named)
        return replace(plan, daemon_settings=(*plan.daemon_settings, *more))

    def _void(self, plan, result):
        self.voids.append({**run_of(plan), "why": result.load.void, "cycle_ms": _cycles_ms(result)})

    def _say_aside(self, text):
        self.say(f"    {text}")


def run_of(plan):
    """Returns which run of a case it is, as data: its role in the figure, the library, the settings and the machine."""
    part = "control" if is_known_bad(plan.library) else "alone" if len(plan.jobs) == 1 else "together"
    machine = plan.machine
    return {"run": part, "jobs": [f"{job.variant}, c = {job.compute_ms:g} ms, {job.iterations} iterations"
                                  for job in plan.jobs],
            "library": plan.library and plan.library.name, "settings": list(plan.daemon_settings),
            "machine": f"{machine.nodes} nodes of {machine.gpus_per_node} GPUs, {machine.mode}, "
                       f"links {machine.link_sharing}, co-run {machine.co_run:g}"}


def _cycles_ms(result):
    """Returns the mean iteration of each job in a run, or None if its logs do not have it."""
    try:
        return {name: round(log.step_ms(0), 4) for name, log in result.jobs.items()}
    except (IndexError, ValueError, ZeroDivisionError):
        return None

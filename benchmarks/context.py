"""What a figure gets to measure with: the build, runs that are not void, and where is noted what was void or failed."""

import contextlib
from dataclasses import dataclass, field, replace

from benchmarks import pairs, session
from benchmarks.commands import is_known_bad
from benchmarks.results import controlled


@dataclass
class Context:
    """What a figure gets: the build under measurement, where notes go, and how many runs make a median."""

    build: object
    say: object = print
    runs: int = 5
    isolated: bool = True
    keep: object = None
    settings: tuple = ()  # of every arbiter, beside those of the plan
    quiet_until: float = 0.0  # until then a void run is made again, on the clock of time.monotonic()
    voids: list = field(default_factory=list)  # what was void, and was made again or missed
    failures: list = field(default_factory=list)  # what crashed, hung or was not there: it is not made again
    runs_taken: list = field(default_factory=list)  # load and conditions of every timed run

    def session(self, plan, timed=True):
        """A run that is not void. None: void to the end, or failed; which run and why, is kept. Where times do not
        matter, neither does how busy the machine was."""
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
        """Something that ought to have ended well did not: the case is not ok, and is not taken again."""
        self.failures.append({**(run or {}), "why": why})
        self._say_aside(why)

    def has(self, library):
        """Whether it is built; a failure where it is not."""
        if not library.exists():
            self.fail(f"{library.name} is not built")
        return library.exists()

    @contextlib.contextmanager
    def without_guard(self):
        """For a known-bad library and what ships beside it: the guard would find a way around the planted fault, and
        without it for both they differ in that fault alone."""
        before, self.settings = self.settings, (*self.settings, "guard: off")
        try:
            yield
        finally:
            self.settings = before

    def controlled(self, goal, what, name, measure):
        """A Control: `measure` of the known-bad library `name`, and of what ships, both without the guard."""
        with self.without_guard():
            shipped = measure(self.build.library)
            return controlled(goal, what, measure(self.build.known_bad(name)), shipped)

    def take_notes(self):
        """What is to be said of the runs since the last call: (what makes a line what it is, remarks)."""
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
    """Which run of a case it is, as data: its part in the figure, the library, the arbiters' settings, the machine."""
    part = "control" if is_known_bad(plan.library) else "alone" if len(plan.jobs) == 1 else "together"
    machine = plan.machine
    return {"run": part, "jobs": [f"{job.variant}, c = {job.compute_ms:g} ms, {job.iterations} iterations"
                                  for job in plan.jobs],
            "library": plan.library and plan.library.name, "settings": list(plan.daemon_settings),
            "machine": f"{machine.nodes} nodes of {machine.gpus_per_node} GPUs, {machine.mode}, "
                       f"links {machine.link_sharing}, co-run {machine.co_run:g}"}


def _cycles_ms(result):
    """What a run would have said of each job: the mean of its iterations. None: it has no logs that say so."""
    try:
        return {name: round(log.step_ms(0), 4) for name, log in result.jobs.items()}
    except (IndexError, ValueError, ZeroDivisionError):
        return None

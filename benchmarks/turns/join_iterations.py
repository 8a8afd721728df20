"""join_iterations is the number of iterations that a job needs which comes, goes or comes back, counted from its first
turn, until it and the jobs already there run at 0.95 of the bound.

Control, against the shipped library, both without the guard: release after the collective, with which they never reach
it. Each job that is there has a step time in `crossover top` throughout.
"""

import threading

from benchmarks.runner.results import Goal, Measured
from benchmarks.turns import eta
from testing import bounds, evaluate, pairs, session
from testing.commands import Job

GOAL = Goal("<=", 5, "worst", runs=5)
_SHAPE = pairs.Shape(0.6, iterations=200)
_SHARE, _WINDOW = 0.95, 15
CASES = ("join", "leave", "restart", "third")


def measure(context, case):
    alone = pairs.solo(context, _SHAPE)
    details, control = [], None

    def one(library, kept):
        return alone and _one(context, case, alone[0], library, kept)

    value, counts = pairs.measured_by(context, GOAL, lambda: one(context.build.library, details))
    if value is not None and case != "leave":
        control = context.controlled(GOAL, "release after the collective", eta.CONTROL,
                                     lambda library: one(library, []))
    yield Measured("join_iterations", case, value, "iterations", GOAL, counts, control, _SHAPE.condition(),
                   {"runs": details}, _SHAPE.conditions(jobs=3 if case == "third" else 2))


def _one(context, case, alone, library, details):
    shape = _shape(alone)
    scenario = _Scenario(case)
    plan = session.Plan(_SHAPE.machine(), scenario.jobs, library, isolated=context.isolated, late=scenario.late,
                        expendable=scenario.expendable, during=scenario.play)
    result = context.session(plan)
    if result is None:
        return None
    # Jobs that remain afterwards are compared with the bound of so many jobs, or with the step alone.
    stay = [job.name for job in plan.survivors if job.name in scenario.after]
    bound = evaluate.shared_bound([shape] * len(stay), _SHAPE.machine()) if len(stay) > 1 else alone.step_ms
    # A newcomer counts from its first turn. No job takes turns with a newcomer that has not been understood yet.
    begin = scenario.at_ns
    if case != "leave":
        begin = min(e.t_ns for e in result.trace if e.event == "hold" and e.t_ns > scenario.at_ns
                    and e.gang == scenario.newcomer)
    found = {name: _iterations_until(result.job(name), begin, bound / _SHARE) for name in stay}
    details.append({"iterations": found, "without_a_step": scenario.missing})
    if scenario.missing:
        raise session.Failed(f"{scenario.missing} times no step time was shown of a job that was there")
    return max(found.values())


def _shape(alone):
    return bounds.one_turn(alone.compute_ms, alone.exposed_ms, alone.exposed_ms)


def _iterations_until(job, begin_ns, cycle_ms):
    """Returns the number of iterations after `begin_ns` before the first window that runs at `cycle_ms` or better."""
    ends = [i.end_ns for i in job.ranks[0].iterations if i.end_ns >= begin_ns]
    for first in range(len(ends) - _WINDOW):
        if (ends[first + _WINDOW] - ends[first]) / 1e6 / _WINDOW <= cycle_ms:
            return first
    return len(ends)


class _Scenario:
    """Holds the jobs of a case, and plays what happens to them while they run."""

    def __init__(self, case):
        self._case = case
        job = {name: Job(name, seed, _SHAPE.compute_ms, iterations) for seed, (name, iterations) in
               enumerate({"alpha": 250, "beta": 170 if case in ("join", "third") else 120, "gamma": 120}.items(), 1)}
        again = Job("again", 2, _SHAPE.compute_ms, 120, gang="beta")
        self.jobs = {"join": (job["alpha"], job["beta"]), "leave": (job["alpha"], job["beta"]),
                     "restart": (job["alpha"], job["beta"], again),
                     "third": (job["alpha"], job["beta"], job["gamma"])}[case]
        self.late = {"join": ("beta",), "restart": ("again",), "third": ("gamma",)}.get(case, ())
        self.expendable = {"leave": ("beta",), "restart": ("beta",)}.get(case, ())
        self.after = {"join": ("alpha", "beta"), "leave": ("alpha",), "restart": ("alpha", "again"),
                      "third": ("alpha", "beta", "gamma")}[case]
        self.newcomer = {"join": "beta", "restart": "beta", "third": "gamma"}.get(case)
        self.at_ns, self.missing = 0, 0

    def play(self, running):
        running.wait_for_iterations(50)
        stop = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(running, stop))
        watcher.start()
        try:
            if self.expendable:
                self.at_ns = running.kill_job(self.expendable[0])
            for name in self.late:
                self.at_ns = running.start_late(name)
            stop.wait(4.0)
        finally:
            stop.set()
            watcher.join()

    def _watch(self, running, stop):
        """Counts the looks at which a client of the first job has no step time."""
        while not stop.wait(0.25):
            for job in running.top().get("jobs", []):
                if job["gang"] == "alpha":
                    self.missing += sum("step_ms" not in client for client in job["clients"])

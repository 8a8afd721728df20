"""Sums up the files of a simulation. Pure but for the reading of CSV."""

import csv
from dataclasses import dataclass

from testing import stats

_PERCENTS = {"median": 50, "p90": 90, "p99": 99, "max": 100}


@dataclass(frozen=True)
class Job:
    submit_s: float
    start_s: float
    end_s: float
    length_s: float
    restarts: int

    @property
    def completion_s(self):
        return self.end_s - self.submit_s

    @property
    def wait_s(self):
        return self.start_s - self.submit_s

    @property
    def slowdown(self):
        """Returns the completion over the time that the job takes alone."""
        return self.completion_s / self.length_s


@dataclass(frozen=True)
class Moment:
    """Holds the state from `from_s` until the next moment."""

    from_s: float
    held_gpus: float
    there_gpus: float
    waiting: int


def jobs_in(file):
    return [Job(float(row["submit_s"]), float(row["start_s"]), float(row["end_s"]), float(row["length_s"]),
                int(row["restarts"])) for row in csv.DictReader(file)]


def moments_in(file):
    return [Moment(float(row["from_s"]), float(row["held_gpus"]), float(row["there_gpus"]), int(row["waiting"]))
            for row in csv.DictReader(file)]


def summary(jobs, moments):
    """Returns the summary; times are in seconds. `occupancy` is the share of the GPUs that were there that a job held,
    until the last job's end. `occupancy_while_jobs_come` is the same until the last job came, before the cluster
    empties."""
    return {"jobs": len(jobs), "makespan_s": _rounded(max(job.end_s for job in jobs)),
            "completion_s": _spread([job.completion_s for job in jobs]),
            "wait_s": _spread([job.wait_s for job in jobs]),
            "slowdown": _spread([job.slowdown for job in jobs]),
            "occupancy": _rounded(occupancy(moments, moments[-1].from_s)),
            "occupancy_while_jobs_come": _rounded(occupancy(moments, max(job.submit_s for job in jobs))),
            "most_waiting": max(moment.waiting for moment in moments),
            "restarts": sum(job.restarts for job in jobs)}


def occupancy(moments, until_s, since_s=0.0):
    """Returns the share of GPU time that was held between two times, or 0 where there was none."""
    held = there = 0.0
    for moment, after in zip(moments, moments[1:]):
        took_s = min(after.from_s, until_s) - max(moment.from_s, since_s)
        if took_s > 0:
            held += took_s * moment.held_gpus
            there += took_s * moment.there_gpus
    return held / there if there else 0.0


def occupancy_over_time(moments, until_s, parts=100):
    """Returns (time, share held) of `parts` equal parts of the time, each at its middle."""
    width_s = until_s / parts
    return [((part + 0.5) * width_s, occupancy(moments, (part + 1) * width_s, part * width_s))
            for part in range(parts)]


def distribution(values, points=100):
    """Returns (value, share of all values that are not above it), at `points` equal steps of the share at most."""
    ordered = sorted(values)
    steps = min(points, len(ordered))
    return [(stats.percentile(ordered, 100 * step / steps), step / steps) for step in range(1, steps + 1)]


def _spread(values):
    spread = {"mean": stats.mean(values)}
    spread |= {name: stats.percentile(values, percent) for name, percent in _PERCENTS.items()}
    return {name: _rounded(value) for name, value in spread.items()}


def _rounded(value):
    """Rounds to thousandths, as the files do."""
    return round(value, 3)

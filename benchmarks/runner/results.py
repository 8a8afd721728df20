"""Writes the result lines of figures, and judges them by their goals. Pure except for the append."""

import datetime
import json
import operator
import os
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.runner import kinds
from testing import stats

_SENSES = {">=": operator.ge, "<=": operator.le, "==": operator.eq}


@dataclass(frozen=True)
class Goal:
    """`value sense limit`, such as >= 0.97. Without a limit the value is only shown.

    `judged` says what the value is: "worst" or "median" of the samples, or "value" if the figure has its own. `least`
    limits every single sample, in addition to the limit for the median. `runs` is the least number of samples.
    """

    sense: str = ">="
    limit: object = None
    judged: str = "value"
    least: object = None
    runs: int = 1

    def met_by(self, value, samples=None):
        """Returns whether the value meets the goal. Without `samples`, the value is a single run, of a control."""
        if self.limit is None:
            return True
        if value is None or not self._holds(value, self.limit):
            return False
        each = (value,) if samples is None else samples
        if samples is not None and len(samples) < self.runs:
            return False
        return self.least is None or all(sample is not None and self._holds(sample, self.least) for sample in each)

    def allows(self, run):
        """Returns whether a single run may have this value: if a median is judged, a run may differ from it, as far
        as `least`."""
        return self.limit is None or (run is not None
                                      and self._holds(run, self.limit if self.least is None else self.least))

    def worst_of(self, samples):
        """Returns the sample that speaks most against the figure."""
        if self.sense == "==":
            return max(samples, key=lambda sample: abs(sample - (self.limit or 0)))
        return min(samples) if self.sense == ">=" else max(samples)

    def of(self, samples):
        """Returns the value that this goal judges, or None if a sample, or one of the required runs, is missing."""
        if None in samples or len(samples) < self.runs:
            return None
        return self.worst_of(samples) if self.judged == "worst" else stats.median(samples)

    def _holds(self, value, limit):
        return bool(_SENSES[self.sense](value, limit))

    def __str__(self):
        if self.limit is None:
            return "none"
        words = {"worst": f", worst of {self.runs} runs" if self.runs > 1 else ", worst run",
                 "median": " at the median"}
        beyond = "below" if self.sense == ">=" else "above"
        return (f"{self.sense} {self.limit:g}{words.get(self.judged, '')}"
                + ("" if self.least is None else f", no run {beyond} {self.least:g}"))


@dataclass(frozen=True)
class Control:
    """A known-bad variant, measured the same way. It must miss the goal, or the figure proves nothing. `shipped` is
    the shipped variant under the control's settings. It must reach the goal there: then the two differ in one thing
    only."""

    what: str
    value: object
    caught: bool
    shipped: object = None


@dataclass(frozen=True)
class Measured:
    """One case of a figure, before it is written. `value` is None if a run was void to the end, or failed. `control`
    is one Control or several. `condition` says in words what it was measured under; `conditions` says it as data
    (benchmarks/runner/kinds.py)."""

    figure: str
    case: str
    value: object
    unit: str
    goal: Goal
    samples: tuple
    control: object = None
    condition: str = ""
    remarks: dict = field(default_factory=dict)
    conditions: dict = field(default_factory=dict)

    @property
    def controls(self):
        if self.control is None:
            return ()
        return self.control if isinstance(self.control, tuple) else (self.control,)

    @property
    def ok(self):
        samples = None if self.goal.judged == "value" else self.samples
        return self.goal.met_by(self.value, samples) and all(control.caught for control in self.controls)

    @property
    def spread(self):
        """Returns {"median", "worst"} of the samples, if they are of the value's own kind; counts of something else
        are not."""
        known = [s for s in self.samples if isinstance(s, (int, float)) and not isinstance(s, bool)]
        if not known:
            return {}
        spread = {"median": stats.median(known), "worst": self.goal.worst_of(known)}
        own = self.goal.judged != "value" or self.value in (*spread.values(), min(known), max(known))
        return spread if own else {}


_NOT_TAKEN = object()


def controlled(goal, what, value, shipped=_NOT_TAKEN):
    """Returns a Control and whether the goal catches it. A control that could not be measured is not caught. Nor is
    one if the shipped variant did no better than a single run may."""
    caught = value is not None and not goal.met_by(value)
    if shipped is _NOT_TAKEN:
        return Control(what, value, caught)
    return Control(what, value, caught and goal.allows(shipped), shipped)


def line(measured, scope, where, command, kind=""):
    """Returns the JSON object of a result. `scope` is "chain" if everything took part, "component" if one part was
    measured. `kind` is that of its conditions, if they name none. Raises ValueError if a case does not state its
    conditions."""
    conditions = kinds.complete(measured.conditions, kind, measured.condition)
    faults = kinds.faults(conditions)
    if faults:
        raise ValueError(f"{measured.figure} {measured.case}: conditions: {'; '.join(faults)}")
    remarks = {"condition": measured.condition} if measured.condition else {}
    if measured.controls:
        remarks["controls"] = [_as_dict(control) for control in measured.controls]
    entry = {"figure": measured.figure, "case": measured.case, "value": _rounded(measured.value),
             "unit": measured.unit, **_rounded(measured.spread), "goal": str(measured.goal), "ok": measured.ok,
             "control": _rounded(measured.controls[0].value) if measured.controls else None, "scope": scope,
             "conditions": _rounded(conditions), "where": where, "samples": [_rounded(s) for s in measured.samples],
             "command": command, "revision": revision(), "taken": datetime.date.today().isoformat()}
    remarks |= measured.remarks
    return {**entry, **({"remarks": remarks} if remarks else {})}


def _as_dict(control):
    shipped = {} if control.shipped is None else {"shipped": _rounded(control.shipped)}
    return {"what": control.what, "value": _rounded(control.value), **shipped, "caught": control.caught}


@cache
def revision():
    """Returns the commit of the sources that are measured."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        described = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=False)
    except FileNotFoundError:  # no git on a bare machine
        return "unknown"
    return described.stdout.strip() or "unknown"


def append(path, entry):
    """Appends one line in one write, so that the lines of figures that are measured in parallel do not mix."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def where(gpus="software GPUs"):
    """Describes the machine and what its GPUs were, in words that do not name its owner."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for row in file:
            if row.startswith("model name"):
                model = row.split(":", 1)[1].strip()
                break
    return f"{os.cpu_count()} cores of {model}, Linux {os.uname().release.split('-')[0]}, {gpus}"


def _rounded(value):
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return value

"""Result lines of figures, and the goals they are held to. Pure but for the append."""

import json
import operator
import os
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

_SENSES = {">=": operator.ge, "<=": operator.le, "==": operator.eq}


@dataclass(frozen=True)
class Goal:
    """`value sense limit`, such as >= 0.97. `None` as a limit: shown, not held to anything."""

    sense: str = ">="
    limit: object = None

    def met_by(self, value):
        return self.limit is None or (value is not None and bool(_SENSES[self.sense](value, self.limit)))

    def __str__(self):
        return "none" if self.limit is None else f"{self.sense} {self.limit:g}"


@dataclass(frozen=True)
class Control:
    """A known-bad variant measured the same way. It must miss the goal, or the figure says nothing."""

    what: str
    value: object
    caught: bool


@dataclass(frozen=True)
class Measured:
    """One case of a figure, before it is written. `value` None: every try was void or failed; `remarks` say why.
    `condition`: under what it was measured, in words."""

    figure: str
    case: str
    value: object
    unit: str
    goal: Goal
    samples: tuple
    control: object = None
    condition: str = ""
    remarks: dict = field(default_factory=dict)

    @property
    def ok(self):
        return self.goal.met_by(self.value) and (self.control is None or self.control.caught)

    @property
    def void(self):
        """Nothing was found out: of the figure, or of its control."""
        return self.value is None or (self.control is not None and self.control.value is None)


def controlled(goal, what, value):
    """A control and whether the goal catches it. A control that could not be measured is not caught."""
    return Control(what, value, value is not None and not goal.met_by(value))


def line(measured, scope, where, command):
    """The JSON object of a result. `scope`: "chain" if everything took part, "component" if one part was measured."""
    control = measured.control
    remarks = {"condition": measured.condition} if measured.condition else {}
    if control:
        remarks["control"] = {"what": control.what, "caught": control.caught}
    entry = {"figure": measured.figure, "case": measured.case, "value": _rounded(measured.value),
             "unit": measured.unit, "goal": str(measured.goal), "ok": measured.ok,
             "control": _rounded(control.value) if control else None, "scope": scope,
             "where": where, "samples": [_rounded(s) for s in measured.samples], "command": command,
             "revision": revision()}
    remarks |= measured.remarks
    return {**entry, **({"remarks": remarks} if remarks else {})}


@cache
def revision():
    """The sources that were measured."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        described = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent, check=False)
    except FileNotFoundError:  # no git on a bare machine
        return "unknown"
    return described.stdout.strip() or "unknown"


def append(path, entry):
    """One line, in one write, so that figures measured side by side do not mix."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def where(gpus="software GPUs"):
    """The machine and what stood for its GPUs, in words that say nothing about whose it is."""
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

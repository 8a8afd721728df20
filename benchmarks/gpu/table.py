"""Keeps the lines of a run: in a file to which runs add, and in a table that says of each figure what it is, or why it
has no value.
"""

import json
import os
import shlex
import shutil
from dataclasses import replace

from benchmarks.gpu.parts import unmeasured_case
from benchmarks.runner import results
from benchmarks.runner.kept import newest

FILE = "gpu.jsonl"
_COLUMNS = ("figure", "case", "value", "unit", "goal", "ok", "control")


class Table:
    """Adds lines to `out`/gpu.jsonl and prints them as a table. What is in `out` is copied to $OUT whenever it
    changes: a machine that is lent gives that folder back, however the run ends."""

    def __init__(self, out, flags, say):
        self.out, self._flags, self._say = out, flags, say
        self._path = out / FILE

    def add(self, part, name, measured, where):
        """Adds a line of a part, or replaces the line of this figure and case. It also replaces the line that
        says why the part had not measured the figure, or not all of it. `name` is what --only calls the part."""
        command = shlex.join(["benchmarks/gpu/run", *self._flags, "--only", name])
        measured = replace(measured, condition=measured.condition or f"part {part.name}, case {measured.case}")
        entry = results.line(measured, "component" if part.component else "chain", results.where(where), command, "gpu")
        outdated = entry["figure"], unmeasured_case(part)
        kept = [old for old in self.entries() if (old["figure"], old["case"]) != outdated]
        entries = newest([json.dumps(one) for one in [*kept, entry]])
        fresh = self._path.with_suffix(".new")
        fresh.write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
        fresh.replace(self._path)
        self.give_back()
        self._say("  " + json.dumps({key: entry[key] for key in _COLUMNS}))

    def entries(self):
        return newest(self._path.read_text(encoding="utf-8").splitlines()) if self._path.exists() else []

    def finish(self, machine, outcomes, meanings=()):
        """Writes the table and prints it. `machine` and `outcomes` are texts by name: what the machine has, and what
        has become of each part. `meanings` say what the answers mean."""
        entries = self.entries()
        text = _columns(entries) + _reasons(entries)
        text += _section("this machine", (f"{name}: {words}" for name, words in machine.items()))
        text += _section("what the answers mean", meanings)
        text += "\n" + "".join(f"{name}: {outcome}\n" for name, outcome in outcomes.items())
        (self.out / "table.txt").write_text(text, encoding="utf-8")
        self.give_back()
        self._say(text)

    def keep_logs(self, rig, name):
        """Appends the ends of all programs' logs to one file, for a look at what went wrong."""
        with open(self.out / "logs.txt", "a", encoding="utf-8") as kept:
            for log in sorted(rig.work.glob("**/*.log")):
                text = log.read_text(encoding="utf-8", errors="replace")
                if text.strip():
                    kept.write(f"== {name}: {log.relative_to(rig.work)}\n{text[-2000:]}\n")
                log.unlink()

    def give_back(self):
        if os.environ.get("OUT"):
            for file in self.out.glob("*.*"):
                shutil.copy(file, os.environ["OUT"])


def reason_of(entry):
    """Returns why a line has no value, in words, or ""."""
    if entry["value"] is not None:
        return ""
    remarks = entry.get("remarks", {})
    return remarks.get("reason") or remarks.get("refused") or remarks.get("condition", "")


def _columns(entries):
    rows = [_COLUMNS] + [tuple(_shown(entry[key]) for key in _COLUMNS) for entry in entries]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows) + "\n"


def _reasons(entries):
    missing = [(entry, reason_of(entry)) for entry in entries if entry["value"] is None]
    partial = [(entry, entry.get("remarks", {}).get("left_out")) for entry in entries if entry["value"] is not None]
    return (_section("why a value is missing", (f"{e['figure']} {e['case']}: {why}" for e, why in missing)) +
            _section("what a value leaves out", (f"{e['figure']} {e['case']}: {why}" for e, why in partial if why)))


def _section(title, lines):
    lines = list(lines)
    return f"\n{title}\n" + "".join(f"  {line}\n" for line in lines) if lines else ""


def _shown(value):
    if isinstance(value, bool):
        return "ok" if value else "MISSED"
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)

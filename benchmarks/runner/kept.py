"""Decides what a line of benchmarks/results must have, and which figures must still be measured again.

A line says its conditions, its revision, its day, and every sample. Older lines, from before these were required,
have no day. Until they are measured again, their figures are listed in results/to_retake.json, which the tables show.
A line with a day is excused only where its commit has left the history and the line has no sketch of its code, as
lines from before sketch.py have none. So the list can only become shorter.
"""

import json
from pathlib import Path

from benchmarks.runner import catalogue, kinds, moved_on, sketch

TREE = Path(__file__).resolve().parents[2]
RESULTS = TREE / "benchmarks" / "results"
_TO_RETAKE = RESULTS / "to_retake.json"
_CODE = "code"
_TEXTS = ("figure", "case", "unit", "goal", "where", "command", "revision")


def newest(lines):
    """Returns the last line of each figure and case, in order of first appearance."""
    entries = {}
    for line in lines:
        entry = json.loads(line)
        entries[entry["figure"], entry["case"]] = entry
    return list(entries.values())


def is_of(case, name, entry):
    """Returns whether a line belongs to a case of the figure's module `name`. Its case may have more text behind the
    case's name, or the first part of that name may be in the name of its figure."""
    rest = entry["figure"].removeprefix(f"{name}_")
    return any(case == one or one.startswith(f"{case}_") for one in (entry["case"], f"{rest}_{entry['case']}"))


def files():
    """Returns {name of the figure's module: its entries}."""
    return {path.stem: newest(path.read_text(encoding="utf-8").splitlines())
            for path in sorted(RESULTS.glob("*.jsonl"))}


def to_retake():
    """Returns {name of the figure's module: why}."""
    return json.loads(_TO_RETAKE.read_text(encoding="utf-8"))


def write_to_retake(figures):
    _TO_RETAKE.write_text(json.dumps(dict(sorted(figures.items())), indent=2) + "\n", encoding="utf-8")


def is_excused(tree, name, entry, waiting):
    """Returns whether a line may be older than its code. `waiting` is what to_retake() returns."""
    return name in waiting and ("taken" not in entry or (_CODE not in entry and not tree.has(entry["revision"])))


def with_sketch(tree, name, entry):
    """Returns the line with a sketch of the code that it was measured with. Raises NoHistory if that is not known."""
    return {**entry, _CODE: sketch.of(tree.code(catalogue.figure(name).folders, entry["revision"]))}


def faults(entry):
    """Returns what is wrong with a line by itself: for each fault the key, the value and what is expected."""
    found = [f"{key}: expected a text, got {entry.get(key)!r}" for key in _TEXTS
             if not isinstance(entry.get(key), str) or not entry[key]]
    if not isinstance(entry.get("samples"), list) or not entry["samples"]:
        found.append(f"samples: expected every run's value, got {entry.get('samples')!r}")
    if "conditions" not in entry:
        found.append(f"conditions: expected an object with kind, one of {', '.join(kinds.KINDS)}; got none")
    else:
        found += [f"conditions: {fault}" for fault in kinds.faults(entry["conditions"])]
    return found


def faults_of_revision(tree, name, entry):
    """Returns what is wrong with the revision of a line. `name` is that of the figure's module."""
    revision = entry.get("revision", "")
    if revision.endswith("-dirty"):
        return [f"revision: expected a commit, got {revision!r}: what was measured is not known"]
    try:
        part = _part_changed(tree, name, entry)
    except moved_on.NoHistory as unknown:
        return [f"revision: {unknown}"]
    except ValueError as fault:
        return [str(fault)]
    if part > moved_on.TOO_FAR:
        return [f"revision: expected at most {moved_on.TOO_FAR:.0%} of its code to have changed since, got {part:.0%} "
                f"since {revision}"]
    return []


def _part_changed(tree, name, entry):
    """Returns what share of a line's code changed since. Where the commit is not known, the line's sketch tells."""
    folders = catalogue.figure(name).folders
    if _CODE in entry and not tree.has(entry["revision"]):
        return sketch.part_changed(entry[_CODE], tree.code(folders))
    return tree.changed(entry["revision"], folders)


def unkept(tree, name, entries):
    """Returns {case: its faults} of a figure's lines."""
    found = {f"{entry.get('figure')} {entry.get('case')}": faults(entry) + faults_of_revision(tree, name, entry)
             for entry in entries}
    return {case: each for case, each in found.items() if each}


def why(tree, name, entries):
    """Returns in words what is wrong with a figure's lines, for the list; "" if nothing is."""
    found, furthest = set(), 0.0
    for entry in entries:
        if entry["revision"].endswith("-dirty"):
            found.add("taken with sources that were not committed")
            continue
        try:
            furthest = max(furthest, _part_changed(tree, name, entry))
        except moved_on.NoHistory:
            found.add("taken with a revision that is not in the history")
        if faults(entry):
            found.add("; ".join(faults(entry)))
    if furthest > moved_on.TOO_FAR:
        found.add(f"up to {furthest:.0%} of its code has changed since")
    return "; ".join(sorted(found))

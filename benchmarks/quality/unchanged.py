"""unchanged compares the tree with the one before its sources got one model of the cluster, other folders and other
names: what users type and scrape, the samples that tests read, and figures.

`words` counts words of users that are gone, and `samples` counts messages and objects that are gone or have changed.
They list the words and samples that were added since. Each other case is a figure. The case takes the figure of both
trees in turns, twice each, by the code of each tree. It counts the lines that are worse by more than the noise: the
greatest difference between two samples of one tree.

Controls: a name that is changed; a sample of which one character is changed; the figure's own known-bad variant in
place of today's value.
"""

import json
import tempfile
from pathlib import Path

from benchmarks.quality import words_of_users
from benchmarks.runner.results import Goal, Measured, controlled
from benchmarks.runner.revisions import TOP, run_in
from testing import stats
from testing.cluster.rig.versions import cache
from testing.processes import Failed

SCOPE = "component"
GPUS = "software GPUs"
BEFORE = "466643ac"
_FIGURES = {"eta": "plain_0.6", "hook_ns": "inactive,gated", "private_mib": "100_clients", "decision_us": "5000_nodes",
            "attempt_ms": "5000_nodes"}
CASES = ("words", "samples", *_FIGURES)
_GOAL = Goal("==", 0)
_ROUNDS, _RUNS = 2, 3


def left_out(case):
    """Returns why a case is left out unless it is asked for by name, or "" where it is not left out."""
    return "it builds an older tree and takes its figures" if case in _FIGURES else ""


def measure(context, case):
    yield {"words": _words, "samples": _samples}.get(case, _figure)(context, case)


def _words(_context, case):
    old, new = words_of_users.words(BEFORE), words_of_users.words("HEAD")
    gone = {kind: sorted(old[kind] - new[kind]) for kind in old}
    added = {kind: sorted(new[kind] - old[kind]) for kind in old}
    renamed = {kind: new[kind] - set(sorted(old[kind])[:1]) for kind in new}
    seen = sum(len(old[kind] - renamed[kind]) for kind in old)
    return _counted(case, gone, added, f"words of {sum(map(len, old.values()))}",
                    ("a word of each kind has another name", seen))


def _samples(_context, case):
    old, new = words_of_users.samples(BEFORE), words_of_users.samples("HEAD")
    gone = {path: [text[:80] for text, where in old.items() if where == path and text not in new]
            for path in sorted(set(old.values()))}
    changed = {text: path for text, path in new.items() if text != next(iter(old))}
    return _counted(case, gone, {"samples": len(set(new) - set(old))}, f"samples of {len(old)}",
                    ("a sample is changed", sum(text not in changed for text in old)))


def _counted(case, gone, added, unit, control):
    count = sum(map(len, gone.values()))
    return Measured("unchanged", case, count, f"{unit} gone", _GOAL, (count,), controlled(_GOAL, *control),
                    f"sources of {BEFORE} and of today",
                    {"gone": {key: found for key, found in gone.items() if found}, "added": added})


def _figure(context, case):
    old, preset = _older_tree(), context.build.top.name
    taken = {old: [], TOP: []}
    with tempfile.TemporaryDirectory(prefix="crossover-unchanged-") as folder:
        for number in range(_ROUNDS):
            for tree, rounds in taken.items():
                rounds.append(_take(context, tree, old / "build" / preset if tree == old else context.build.top, case,
                                    Path(folder) / f"{tree.name}-{number}"))
    compared, worse, seen = {}, [], 0
    for name in sorted(taken[old][0].keys() & taken[TOP][0].keys()):
        before, now = ([sample for lines in taken[tree] for sample in _samples_of(lines[name])] for tree in taken)
        line = taken[TOP][0][name]
        compared[name] = {"before": before, "now": now, "ratio": _ratio(before, now)}
        if is_worse(line["goal"], before, now):
            worse.append(name)
        seen += line["control"] is not None and is_worse(line["goal"], before, [line["control"]])
    if not compared:
        raise Failed(f"{case}: expected lines of both trees, got {sorted(taken[old][0])} and {sorted(taken[TOP][0])}")
    context.say(f"    {worse or 'none is worse'} of {sorted(compared)}; controls seen: {seen}")
    return Measured("unchanged", case, len(worse), f"lines of {len(compared)} that are worse", _GOAL, (len(worse),),
                    controlled(_GOAL, "the figure's own known-bad variant", seen),
                    f"{_ROUNDS} times each of {BEFORE} and of today, in turns, with {_RUNS} runs each",
                    {"worse": worse, "lines": compared})


def is_worse(goal, before, now):
    """Returns whether the median of today's samples is worse than that of older ones by more than the noise. `goal` is
    a goal in words; if it has no limit, or asks for one value, each direction is worse."""
    noise = max(max(samples) - min(samples) for samples in (before, now))
    change = stats.median(now) - stats.median(before)
    worse = {"<=": change, ">=": -change}.get(goal.split()[0], abs(change))
    return worse > noise


def _ratio(before, now):
    return stats.median(now) / stats.median(before) if stats.median(before) else None


def _samples_of(line):
    """Returns the samples of a line if they are of its value's kind, else its value."""
    return line["samples"] if "median" in line else [line["value"]]


def _older_tree():
    """Returns a clone of the older revision with its programs, which lies in the cache."""
    folder = cache() / f"before-{BEFORE}"
    if not folder.exists():
        run_in(TOP, "git", "clone", "--quiet", "--no-checkout", TOP, folder)
    run_in(folder, "git", "checkout", "--quiet", "--detach", BEFORE)
    return folder


def _take(context, tree, build, case, out):
    """Takes a figure of a tree, and returns {name of a line: the line}. Raises Failed. Both trees are built here, with
    the library that ships: else a figure would compare the libraries of two compilers."""
    run_in(tree, "tools/build.sh", build.name, "all", "crossover_portable")
    out.mkdir()
    run_in(tree, "python3", "-B", "-m", "benchmarks.run", "--build", build, "--only", case, "--cases", _FIGURES[case],
           "--runs", _RUNS, "--patience", 3, "--out", out, codes=(0, 1))  # 1: a line misses its goal
    path = out / f"{case}.jsonl"
    if not path.exists():
        raise Failed(f"{tree}: {case}: expected {path}, got none")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    context.say(f"    {tree.name}: {[(line['figure'], line['case'], line['value']) for line in lines]}")
    return {f"{line['figure']} {line['case']}": line for line in lines if isinstance(line["value"], (int, float))}

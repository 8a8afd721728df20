"""Keep the newest result of each case: `python3 -m benchmarks.keep build/bench [FIGURE ...]`.

Merges <build>/<figure>.jsonl into benchmarks/results, which is committed: one line per figure and case. Refuses a line
that lacks anything required (benchmarks/runner/kept.py), or whose revision is not a commit of this history. The refusal
names the file, the key, the value and what is expected. Lines of cases that the figure no longer has are removed. """

import json
import sys
from pathlib import Path

from benchmarks.runner import catalogue, kept, moved_on


def merge(name, old, new, cases=None):
    """Returns the newest entry of each case of a figure, from `old` and `new`. `cases` are those that the figure has
    now."""
    entries = {(entry["figure"], entry["case"]): entry for entry in [*old, *new]}
    return [entry for entry in entries.values()
            if cases is None or entry in new or any(kept.is_of(case, name, entry) for case in cases)]


def keep(tree, measured, results=kept.RESULTS):
    """Merges a file of measurements into the kept one. Returns what was refused."""
    refused, good = [], []
    for entry in kept.newest(measured.read_text(encoding="utf-8").splitlines()):
        faults = kept.faults(entry) + kept.faults_of_revision(tree, measured.stem, entry)
        refused += [f"{measured}: {entry.get('figure')} {entry.get('case')}: {fault}" for fault in faults]
        good += [] if faults else [kept.with_sketch(tree, measured.stem, entry)]
    if good:
        path = results / measured.name
        old = kept.newest(path.read_text(encoding="utf-8").splitlines()) if path.exists() else []
        entries = merge(measured.stem, old, good, _cases(measured.stem))
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return refused


def _cases(name):
    return catalogue.module(name).CASES if name in catalogue.FIGURES else None


def prune(tree):
    """Removes figures from the list of those to be measured again, once all of their lines are right."""
    entries = kept.files()
    kept.write_to_retake({name: reason for name, reason in kept.to_retake().items()
                          if name in entries and kept.unkept(tree, name, entries[name])})


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    tree, refused = moved_on.Tree(kept.TREE), []
    names = arguments[1:]
    for measured in sorted(Path(arguments[0]).glob("*.jsonl")):
        if not names or measured.stem in names:
            refused += keep(tree, measured)
    prune(tree)
    for fault in refused:
        print(fault, file=sys.stderr)
    return int(bool(refused))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

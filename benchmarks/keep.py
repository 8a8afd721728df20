"""Keep the newest result of each case: `python3 -m benchmarks.keep build/bench [FIGURE ...]`.

Merges <build>/<figure>.jsonl into benchmarks/results, which is committed: one line per figure and case.
"""

import json
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"


def newest(lines):
    """The last line of each figure and case, in order of first appearance."""
    entries = {}
    for line in lines:
        entry = json.loads(line)
        entries[entry["figure"], entry["case"]] = entry
    return list(entries.values())


def keep(measured, kept):
    """Merge one file of measurements into the kept one."""
    old = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    entries = newest(old + measured.read_text(encoding="utf-8").splitlines())
    kept.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    names = arguments[1:]
    for measured in sorted(Path(arguments[0]).glob("*.jsonl")):
        if not names or measured.stem in names:
            keep(measured, RESULTS / measured.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

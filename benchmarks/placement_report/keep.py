"""Keep a report: `python3 -m benchmarks.placement_report.keep OUT` puts the content of the report in OUT into the tree.

RUN.json goes to benchmarks/results/placement, the pictures to docs/simulations, the tables into docs/simulations.md.
"""

import json
import shutil
import sys
from pathlib import Path

from benchmarks.placement_report import page
from benchmarks.placement_report.runs import RUNS

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- tables: benchmarks.placement_report.keep -->\n", "<!-- end of tables -->\n"


def keep(out, root=ROOT):
    kept = root / "benchmarks/results/placement"
    kept.mkdir(parents=True, exist_ok=True)
    for run in RUNS:
        if not (out / f"{run.name}.json").exists():
            continue
        shutil.copyfile(out / f"{run.name}.json", kept / f"{run.name}.json")
        folder = root / "docs/simulations" / run.name
        folder.mkdir(parents=True, exist_ok=True)
        for name in page.PICTURES:
            shutil.copyfile(out / run.name / f"{name}.svg", folder / f"{name}.svg")
    document = root / "docs/simulations.md"
    document.write_text(with_tables(document.read_text(encoding="utf-8"), kept), encoding="utf-8")


def with_tables(text, kept):
    """Returns the document with the tables of the kept runs."""
    runs = [json.loads((kept / f"{run.name}.json").read_text(encoding="utf-8")) for run in RUNS]
    head, rest = text.split(BEGIN)
    return head + BEGIN + page.page(runs, "simulations") + END + rest.split(END)[1]


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    keep(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

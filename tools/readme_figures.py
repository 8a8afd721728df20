"""Writes the README's table of figures from benchmarks/results: python3 tools/readme_figures.py [--check].

One row per figure: how many cases, the range of their values, the goal, how many met it. --check changes nothing
and exits 1 where the README says something else.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.keep import newest  # noqa: E402

BEGIN, END = "<!-- figures: tools/readme_figures.py -->\n", "<!-- end of figures -->\n"


def shown(value):
    return f"{value:.4g}" if isinstance(value, (int, float)) else "missed"


def row(figure, entries):
    values = [e["value"] for e in entries if isinstance(e["value"], (int, float))]
    span = " to ".join(dict.fromkeys(shown(v) for v in (min(values), max(values)))) if values else "missed"
    goals = ", ".join(dict.fromkeys(str(e["goal"]) for e in entries if e.get("goal"))) or "shown only"
    units = ", ".join(dict.fromkeys(e["unit"] for e in entries))
    met = sum(1 for e in entries if e["ok"])
    return f"| `{figure}` | {span} | {units} | {goals} | {met} of {len(entries)} |"


def table():
    figures = {}
    for path in sorted((ROOT / "benchmarks/results").glob("*.jsonl")):
        for entry in newest(path.read_text().splitlines()):
            figures.setdefault(entry["figure"], []).append(entry)
    places = sorted({e["where"] for entries in figures.values() for e in entries})
    lines = ["| figure | measured | unit | goal | cases that meet it |", "|---|---|---|---|---|"]
    lines += [row(figure, entries) for figure, entries in sorted(figures.items())]
    return "\n".join(lines) + f"\n\nTaken on: {'; '.join(places)}.\n"


def main(arguments):
    readme = ROOT / "README.md"
    text = readme.read_text()
    head, rest = text.split(BEGIN)
    wanted = head + BEGIN + table() + END + rest.split(END)[1]
    if arguments == ["--check"]:
        if wanted != text:
            print("README.md: the table of figures is not what benchmarks/results says", file=sys.stderr)
        return int(wanted != text)
    readme.write_text(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Writes tables of figures from benchmarks/results: python3 tools/readme_figures.py [--check].

The README gets those of KEY, in words; docs/performance.md all of them: one row per figure, how many cases, the range
of their values, the goal, how many met it, where it was taken; and those that missed. --check changes nothing and exits
1 where a page says something else.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.keep import newest  # noqa: E402

BEGIN, END = "<!-- figures: tools/readme_figures.py {} -->\n", "<!-- end of figures -->\n"
PAGES = {"key": ROOT / "README.md", "all": ROOT / "docs/performance.md", "missed": ROOT / "docs/performance.md"}
# What a user asks first, in this order.
KEY = {
    "eta": "two jobs that take turns, of the best rate that turns allow",
    "chain_annotation": "the same on a Kubernetes, by annotations (`share`, and a profile key that a run before has "
                        "taught)",
    "gain_over_mps": "turns under MPS, work per time against the same jobs running freely there",
    "gain_over_timeslicing": "turns under MPS, work per time against free-running time-slicing",
    "eta_timeslice": "turns without MPS, against one job after the other: no gain",
    "guard": "two jobs for which turns pay, or do not, with the guard on, against one after the other",
    "eta_idle": "jobs whose input stalls, of the best rate",
    "solo_overhead": "what a job alone pays",
    "hook_ns": "what a launch pays where no turns are taken",
    "added_start_ms": "how much later a pod with a slot runs",
    "losses_identical": "losses bit for bit those without the library",
    "fault_matrix": "faults, each at 20 random moments: rounds that went wrong",
    "kills_p99": "until the next job runs after a holder was killed",
    "cpu_cost": "processor time of turns",
}


def kept():
    """{figure: its newest entries}, by name."""
    figures = {}
    for path in sorted((ROOT / "benchmarks/results").glob("*.jsonl")):
        for entry in newest(path.read_text(encoding="utf-8").splitlines()):
            figures.setdefault(entry["figure"], []).append(entry)
    return dict(sorted(figures.items()))


def shown(value):
    return f"{value:.4g}" if isinstance(value, (int, float)) else "missed"


def cells(entries):
    """Range, unit and goal, and how many cases met it."""
    values = [e["value"] for e in entries if isinstance(e["value"], (int, float))]
    span = " to ".join(dict.fromkeys(shown(v) for v in (min(values), max(values)))) if values else "missed"
    units = ", ".join(dict.fromkeys(e["unit"] for e in entries))
    goals = ", ".join(dict.fromkeys(str(e["goal"]) for e in entries if e.get("goal"))) or "shown only"
    return [span, units, goals, f"{sum(1 for e in entries if e['ok'])} of {len(entries)}"]


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def letters(figures):
    """{place: the letter that stands for it}."""
    places = sorted({e["where"] for entries in figures.values() for e in entries})
    return {place: chr(ord("a") + number) for number, place in enumerate(places)}


def key_figures(figures):
    rows = [[words, *cells(figures[name]), f"`{name}`"] for name, words in KEY.items()]
    return table(["what", "measured", "unit", "goal", "cases that meet it", "figure"], rows)


def all_figures(figures):
    places = letters(figures)
    rows = [[f"`{name}`", *cells(entries), ", ".join(sorted({places[e["where"]] for e in entries}))]
            for name, entries in figures.items()]
    legend = "".join(f"- {letter}: {place}\n" for place, letter in places.items())
    return table(["figure", "measured", "unit", "goal", "cases that meet it", "taken on"], rows) + "\n" + legend


def missed_figures(figures):
    rows = [[f"`{name}`", f"`{e['case']}`", shown(e["value"]), str(e["goal"])]
            for name, entries in figures.items() for e in entries if not e["ok"]]
    return table(["figure", "case", "measured", "goal"], rows) if rows else "None.\n"


TABLES = {"key": key_figures, "all": all_figures, "missed": missed_figures}


def rewritten(text, name, figures):
    """A page with its table of that name as `figures` have it."""
    head, rest = text.split(BEGIN.format(name))
    return head + BEGIN.format(name) + TABLES[name](figures) + END + rest.split(END, 1)[1]


def main(arguments):
    figures = kept()
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES.values()}
    fresh = dict(texts)
    for name, page in PAGES.items():
        fresh[page] = rewritten(fresh[page], name, figures)
    stale = [page for page in texts if fresh[page] != texts[page]]
    for page in stale:
        if arguments == ["--check"]:
            print(f"{page.name}: a table of figures is not what benchmarks/results says", file=sys.stderr)
        else:
            page.write_text(fresh[page], encoding="utf-8")
    return int(bool(stale) and arguments == ["--check"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

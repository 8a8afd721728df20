"""Writes tables of figures from benchmarks/results: python3 tools/readme_figures.py [--check].

The README gets the figures of KEY, in words, and the gains case by case. docs/performance.md gets all figures: one row
per figure and kind of case, so that no case of a model counts as one of the software GPU. A row has the range of its
values, the worst single run beside it, the goal, how many cases met it, with what it was taken and when, and whether it
is older than its code. --check changes nothing and exits 1 if a page differs.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.runner import catalogue, kept as kept_lines, moved_on  # noqa: E402
from benchmarks.runner.results import Goal, Measured  # noqa: E402
from testing.machine import SMS  # noqa: E402

BEGIN, END = "<!-- figures: tools/readme_figures.py {} -->\n", "<!-- end of figures -->\n"
_PERFORMANCE = ROOT / "docs/performance.md"
PAGES = {"key": ROOT / "README.md", "gains": ROOT / "README.md", "all": _PERFORMANCE, "missed": _PERFORMANCE,
         "retake": _PERFORMANCE, "never": _PERFORMANCE}
# These figures answer what a user asks first, in this order.
KEY = {
    "eta": "two equal jobs that take turns, of the best rate that turns allow",
    "chain_annotation": "the same on a Kubernetes, by annotations (`share`, and a profile key that a run before has "
                        "taught)",
    "gain_over_mps": "throughput with turns, relative to plain MPS (the same two jobs): case by case below",
    "gain_over_timeslicing": "throughput with turns under MPS, relative to plain time-slicing (the same two jobs)",
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
_GAINS = ("gain_over_mps", "gain_over_mps_half_beside", "gain_over_timeslicing")
_KINDS = {"processes": "processes on software GPUs", "model": "model", "program": "program", "cluster": "cluster"}
_OLD = "older than its code"


def kept(tree):
    """Returns {figure: its newest entries}, by name. Each entry has its module, and whether it is stale."""
    waiting, figures = kept_lines.to_retake(), {}
    for module, entries in kept_lines.files().items():
        for entry in entries:
            stale = kept_lines.is_excused(tree, module, entry, waiting)
            figures.setdefault(entry["figure"], []).append({**entry, "module": module, "stale": stale})
    return dict(sorted(figures.items()))


def shown(value):
    return f"{value:.4g}" if isinstance(value, (int, float)) else "missed"


def worst(entry):
    """Returns the worst single run of a line, or None if its samples are of another kind, as counts are."""
    if "worst" in entry:
        return entry["worst"]
    sense, _, limit = str(entry.get("goal", "")).partition(" ")
    goal = Goal(sense, float(limit)) if sense in (">=", "<=", "==") else Goal()
    return Measured("", "", entry["value"], "", goal, tuple(entry.get("samples", ()))).spread.get("worst")


def _span(values):
    known = [value for value in values if isinstance(value, (int, float))]
    return " to ".join(dict.fromkeys(shown(v) for v in (min(known), max(known)))) if known else "missed"


def cells(entries):
    """Returns the range, the worst single run, the unit, the goal, and how many cases met the goal."""
    runs = [run for run in map(worst, entries) if run is not None]
    senses = {str(e.get("goal", "")).split(" ")[0] for e in entries}
    least = "" if not runs else shown(max(runs, key=abs)) if senses == {"=="} else \
        shown(max(runs) if senses == {"<="} else min(runs))
    units = ", ".join(dict.fromkeys(e["unit"] for e in entries if e["unit"]))
    goals = ", ".join(dict.fromkeys(str(e["goal"]) for e in entries if e.get("goal"))) or "shown only"
    return [_span([e["value"] for e in entries]), least, units, goals,
            f"{sum(1 for e in entries if e['ok'])} of {len(entries)}"]


def _day(entry, tree):
    if "taken" in entry:
        return entry["taken"]
    try:
        return tree.day(entry["revision"].removesuffix("-dirty"))
    except moved_on.NoHistory:
        return "day unknown"


def taken(entries, tree):
    """Returns the oldest and the newest revision and day of the entries, and a note if they are too old."""
    found = sorted({(_day(e, tree), e["revision"]) for e in entries})
    ends = [f"{day} `{revision[:8]}{'-dirty' * revision.endswith('-dirty')}`"
            for day, revision in (found[0], found[-1])]
    stale = sum(e["stale"] for e in entries)
    note = "" if not stale else f", {_OLD}" if stale == len(entries) else f", {stale} of {len(entries)} {_OLD}"
    return " to ".join(dict.fromkeys(ends)) + note


def by_kind(entries):
    """Returns {kind: its entries}. A case of a model stands in no row of the software GPU."""
    found = {}
    for entry in entries:
        found.setdefault(entry.get("conditions", {}).get("kind", "not said"), []).append(entry)
    return dict(sorted(found.items(), reverse=True))  # processes first


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]]) + "\n"


def letters(figures):
    """Returns {place: the letter that stands for it}."""
    places = sorted({e["where"] for entries in figures.values() for e in entries})
    return {place: chr(ord("a") + number) for number, place in enumerate(places)}


def key_figures(figures, tree):
    rows = [[words, *cells(entries), _KINDS.get(kind, kind), taken(entries, tree), f"`{name}`"]
            for name, words in KEY.items() for kind, entries in by_kind(figures[name]).items()]
    head = ["what", "measured", "worst run", "unit", "goal", "cases that meet it", "kind", "taken", "figure"]
    return table(head, rows)


def gains(figures, tree):
    """Returns the table of gain_over_*, case by case, with the conditions. It has the cases that do not favour turns,
    too."""
    entries = [e for name in _GAINS for e in figures.get(name, ())]
    rows = [[f"`{e['figure']}`", _words(e), shown(e["value"]), shown(worst(e)), str(e["goal"]), taken([e], tree)]
            for e in sorted(entries, key=lambda e: (_GAINS.index(e["figure"]), e["case"]))]
    return table(["figure", "conditions", "median", "least", "goal", "taken"], rows)


def _words(entry):
    """Returns the conditions that matter for a gain, in words."""
    about = entry.get("conditions", {})
    words = [f"m/c {about['m_over_c']:g}", f"{about['links']} links",
             f"{about['ranks']} rank{'s' if about['ranks'] > 1 else ''}", f"jitter {about['jitter']:.0%}"]
    words += [f"co-run {about['co_run']:g}"] if about["co_run"] != 1 else []
    words += [f"kernels of {about['kernel_sms']} SMs"] if about["kernel_sms"] != SMS else []
    words += [f"collectives of {about['collective_sms']} SMs"] if about.get("collective_sms", 4) != 4 else []
    words += [f"stragglers {about['tail']:.0%}"] if about.get("tail") else []
    slowdown = about.get("collective_slowdown", 0)
    words += [f"collectives {1 + slowdown:g} times as long beside compute"] if slowdown else []
    return ", ".join([*words, *about.get("trainer", ())])


def all_figures(figures, tree):
    places = letters(figures)
    rows = [[f"`{name}`", kind, *cells(entries), taken(entries, tree),
             ", ".join(sorted({places[e["where"]] for e in entries}))]
            for name, each in figures.items() for kind, entries in by_kind(each).items()]
    legend = "".join(f"- {letter}: {place}\n" for place, letter in places.items())
    head = ["figure", "kind", "measured", "worst run", "unit", "goal", "cases that meet it", "taken", "on"]
    return table(head, rows) + "\n" + legend


def missed_figures(figures, tree):
    rows = [[f"`{name}`", f"`{e['case']}`", shown(e["value"]), shown(worst(e)), str(e["goal"]), taken([e], tree)]
            for name, entries in figures.items() for e in entries if not e["ok"]]
    return table(["figure", "case", "measured", "worst run", "goal", "taken"], rows) if rows else "None.\n"


def figures_to_retake(_figures, _tree):
    waiting = kept_lines.to_retake()
    return table(["figures of", "why"], [[f"`{name}`", why] for name, why in waiting.items()]) if waiting else "None.\n"


def never_kept(figures, _tree):
    """Returns the table of cases that figures have and that no kept line covers."""
    known, rows = {}, []
    for entry in (entry for entries in figures.values() for entry in entries):
        known.setdefault(entry["module"], []).append(entry)
    for module in catalogue.FIGURES:
        missing = [case for case in catalogue.module(module).CASES
                   if not any(kept_lines.is_of(case, module, entry) for entry in known.get(module, ()))]
        rows += [[f"`{module}`", ", ".join(f"`{case}`" for case in missing)]] if missing else []
    return table(["figures of", "cases"], rows) if rows else "None.\n"


TABLES = {"key": key_figures, "gains": gains, "all": all_figures, "missed": missed_figures, "retake": figures_to_retake,
          "never": never_kept}


def rewritten(text, name, figures, tree):
    """Returns the page's text with its table `name` written anew from `figures`."""
    head, rest = text.split(BEGIN.format(name))
    return head + BEGIN.format(name) + TABLES[name](figures, tree) + END + rest.split(END, 1)[1]


def main(arguments):
    tree = moved_on.Tree(ROOT)
    figures = kept(tree)
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES.values()}
    fresh = dict(texts)
    for name, page in PAGES.items():
        fresh[page] = rewritten(fresh[page], name, figures, tree)
    stale = [page for page in texts if fresh[page] != texts[page]]
    for page in stale:
        if arguments == ["--check"]:
            print(f"{page.name}: a table of figures is not what benchmarks/results says", file=sys.stderr)
        else:
            page.write_text(fresh[page], encoding="utf-8")
    return int(bool(stale) and arguments == ["--check"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

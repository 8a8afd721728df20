"""Writes the tables of a report as Markdown. Pure."""

from benchmarks.placement_report.runs import POLICIES

# Each heading has the value that it shows of a summary, and its format.
_COLUMNS = {
    "completion, mean": (lambda s: s["completion_s"]["mean"], "{:,.0f}"),
    "median": (lambda s: s["completion_s"]["median"], "{:,.0f}"),
    "p90": (lambda s: s["completion_s"]["p90"], "{:,.0f}"),
    "p99": (lambda s: s["completion_s"]["p99"], "{:,.0f}"),
    "makespan": (lambda s: s["makespan_s"], "{:,.0f}"),
    "wait, mean": (lambda s: s["wait_s"]["mean"], "{:,.0f}"),
    "wait, p99": (lambda s: s["wait_s"]["p99"], "{:,.0f}"),
    "slowdown, median": (lambda s: s["slowdown"]["median"], "{:,.2f}"),
    "slowdown, p99": (lambda s: s["slowdown"]["p99"], "{:,.1f}"),
    "occupancy while jobs come": (lambda s: s["occupancy_while_jobs_come"], "{:.3f}"),
    "restarts": (lambda s: s["restarts"], "{:,}"),
}
PICTURES = {"completion": "share of jobs by completion time", "occupancy": "occupancy over time",
            "slowdown": "share of jobs by slowdown"}


def page(runs, folder="."):
    """Returns the report of `runs`. `folder` is where the runs' folders are, as seen from the page."""
    return "\n".join(_section(run, folder) for run in runs)


def table(policies):
    """Returns a table. `policies` maps a name to its summary, as in a run's file."""
    rows = ["| policy | " + " | ".join(_COLUMNS) + " |", "|---|" + "---|" * len(_COLUMNS)]
    for name, summary in policies.items():
        cells = [shown.format(value(summary)) for value, shown in _COLUMNS.values()]
        rows.append(f"| {POLICIES[name][0]} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def _section(run, folder):
    jobs = next(iter(run["policies"].values()))["jobs"]
    left_out = f"; {run['left_out']:,} of the trace are left out" if run["left_out"] else ""
    most = max(summary["most_waiting"] for summary in run["policies"].values())
    pictures = "\n".join(f"![{what}]({folder}/{run['name']}/{name}.svg)" for name, what in PICTURES.items())
    return (f"### {run['title']}\n\n{jobs:,} jobs{left_out}; at most {most:,} wait at once. "
            f"Seconds, but for slowdown (completion over what the job takes alone), occupancy and restarts.\n\n"
            f"{table(run['policies'])}\n{pictures}\n")

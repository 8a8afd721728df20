"""Holds the result of a demo as rows, and renders them as text. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Holds one way to run the two jobs. `steps_ms` is per job. `losses` is None if the row is the reference
    itself."""

    name: str
    steps_ms: tuple
    gain: float
    eta: float
    losses: object
    remark: str = ""


@dataclass(frozen=True)
class Outcome:
    """Holds all that the report shows."""

    jobs: tuple
    rows: tuple
    bound_ms: float
    plain_bound_ms: float
    compute_ms: float
    exposed_ms: float
    conditions: tuple
    notes: tuple
    faults: tuple = ()  # what must not occur; a demo with faults has failed

    @property
    def best(self):
        return sum(self.rows[0].steps_ms) / self.bound_ms


HEADINGS = ("", "step of {0}", "step of {1}", "gain", "eta", "losses")


def cells(outcome, row):
    """Returns the row as strings, in the order of HEADINGS."""
    losses = {None: "reference", True: "identical", False: "DIFFERENT"}[row.losses]
    return (row.name, *(f"{s:.1f} ms" for s in row.steps_ms), f"{row.gain:.2f}x", f"{row.eta:.2f}", losses)


def headings(outcome):
    return tuple(h.format(*outcome.jobs) for h in HEADINGS)


def text(outcome):
    """Returns a plain table with its remarks below."""
    lines = [headings(outcome)] + [cells(outcome, row) for row in outcome.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    rendered = []
    for line in lines:
        first, rest = line[0].ljust(widths[0]), [c.rjust(w) for c, w in zip(line[1:], widths[1:])]
        rendered.append("  ".join([first, *rest]).rstrip())
    rendered.insert(1, "-" * max(map(len, rendered)))
    rendered.append("")
    rendered.append(f"bound: {outcome.bound_ms:.1f} ms per cycle, gain {outcome.best:.2f}x "
                    f"(c = {outcome.compute_ms:.1f} ms, m = {outcome.exposed_ms:.1f} ms; "
                    f"{outcome.plain_bound_ms:.1f} ms if collectives held no multiprocessors)")
    rendered += [f"{row.name}: {row.remark}" for row in outcome.rows if row.remark]
    return "\n".join(rendered)

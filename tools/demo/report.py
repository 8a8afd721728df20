"""Writes the demo's report: one HTML file that needs no other file. Pure."""

from html import escape

from tools.demo import table
from tools.demo.timeline import svg
from tools.demo.turns import BLUR_MS, overlaps_ms, steady_window

PICTURE_MS = 250

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1160px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: 0.1em; } h2 { font-size: 1.15em; margin-top: 1.8em; }
.big { font-size: 1.25em; }
table { border-collapse: collapse; } td, th { padding: 0.35em 1em; text-align: right; }
th { border-bottom: 2px solid #444; } td { border-bottom: 1px solid #ddd; }
td:first-child, th:first-child { text-align: left; } td:not(:first-child) { white-space: nowrap; }
tr.ours td { font-weight: 600; background: #eef5ee; }
svg { width: 100%; height: auto; } .wide { overflow-x: auto; } .picture { min-width: 860px; }
li { margin: 0.2em 0; overflow-wrap: anywhere; } .bad { color: #b00; }
@media (max-width: 600px) { td, th { padding: 0.35em 0.25em; font-size: 0.8em; } }
"""


def html(outcome, turns, without=0.0):
    """Returns the report. `turns` are those of the shared run with Crossover, for the picture. `without` is the part of
    that run in which the guard had the jobs take no turns."""
    return "\n".join([
        "<!DOCTYPE html>", '<html lang="en"><head><meta charset="utf-8">',
        "<title>Crossover: two jobs take turns</title>", f"<style>{_STYLE}</style></head><body>",
        "<h1>Two training jobs take turns on the same GPUs</h1>", _headline(outcome),
        "<h2>Turns per GPU</h2>", _picture(turns, without), "<h2>Result</h2>", _table(outcome),
        "<h2>Conditions</h2>", _list(outcome.conditions), "<h2>What this does not show</h2>", _list(outcome.notes),
        "</body></html>", ""])


def picture(turns):
    """Returns the picture alone, as an SVG file."""
    return svg(turns, *_window(turns)) + "\n"


def _window(turns):
    return steady_window(turns, PICTURE_MS * 1_000_000)


def _headline(outcome):
    last = outcome.rows[-1]
    return (f'<p class="big">{escape(last.name)}: both jobs done <b>{last.gain:.2f} times</b> as fast as one after '
            f"the other; the bound for these jobs is {outcome.best:.2f} (eta {last.eta:.2f}).</p>")


def _picture(turns, without):
    if not turns:
        return '<p class="bad">No turns were traced.</p>'
    begin, end = _window(turns)
    return (f"<p>{(end - begin) / 1e6:.0f} ms from the steady part of the run, as the arbiters traced it; "
            f"{len(turns)} turns in the whole trace, {_overlaps(turns)}.{_guarded(without)}</p>\n"
            f'<div class="wide"><div class="picture">{svg(turns, begin, end)}</div></div>')


def _overlaps(turns):
    overlaps = overlaps_ms(turns)
    if not overlaps:
        return f"no GPU's turn was ever held by two at once for longer than {BLUR_MS} ms"
    return (f'<span class="bad">{len(overlaps)} of them held by two at once, by the trace, for up to '
            f"{overlaps[0]:.1f} ms</span>: a software GPU that loses its core between opening the next gate and noting "
            "that it gave looks like that")


def _guarded(without):
    """Returns a sentence about the time without turns, if it is more than the guard's rare trials."""
    if without < 0.1:
        return ""
    return (f" For {without:.0%} of the time the guard had the jobs run side by side, without turns, because it "
            "measured that this was no slower: so it goes when the machine is too busy for what the jobs model.")


def _table(outcome):
    head = "".join(f"<th>{escape(h)}</th>" for h in table.headings(outcome))
    body = []
    for row in outcome.rows:
        ours = ' class="ours"' if row is outcome.rows[-1] else ""
        cells = "".join(f"<td>{escape(c)}</td>" for c in table.cells(outcome, row))
        body.append(f"<tr{ours}>{cells}</tr>")
        if row.remark:
            body.append(f'<tr><td colspan="6">{escape(row.remark)}</td></tr>')
    return (f"<div class=\"wide\"><table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
            f"<p>c = {outcome.compute_ms:.1f} ms of compute and m = {outcome.exposed_ms:.1f} ms of exposed "
            f"communication per iteration (mean of the jobs, each alone). Bound on the shared cycle: T* = "
            f"{outcome.bound_ms:.1f} ms ({outcome.plain_bound_ms:.1f} ms if collectives held no multiprocessors). "
            "Gain: against one job after the other. eta: share of the bound's gain that was reached.</p>")


def _list(lines):
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"

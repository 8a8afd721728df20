"""Draws the turns per GPU as SVG, for a page or a file of its own. Pure."""

from html import escape

from tools.demo.turns import gangs_of, gpus_of

COLOURS = ("#2f6db5", "#e0852b", "#3c9d6d", "#a05195")
_STYLE = ".tick { stroke: #ddd; } .rule { stroke: #bbb; } text { font: 12px sans-serif; fill: #222; }"
_LEFT, _WIDTH, _ROW, _BAR, _TOP = 130, 1000, 54, 20, 34
_CHARACTER = 7.5  # approximate width of a character of the font


def svg(turns, begin_ns, end_ns):
    """Returns an SVG with one row per GPU: filled while a job holds the turn, hatched above while it waits for it."""
    gpus, gangs = gpus_of(turns), gangs_of(turns)
    height = _TOP + _ROW * len(gpus) + 34
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 40} {height}" role="img" '
             f'aria-label="turns of {escape(" and ".join(gangs))} on {len(gpus)} GPUs">',
             f"<style>{_STYLE}</style>", _hatches(gangs), _legend(gangs),
             _axis(begin_ns, end_ns, _TOP + _ROW * len(gpus))]
    for row, gpu in enumerate(gpus):
        parts.append(_gpu_row(row, gpu, [t for t in turns if t.gpu == gpu], gangs, begin_ns, end_ns))
    parts.append("</svg>")
    return "\n".join(parts)


def short_name(gpu):
    """Returns `node0 GPU 1` for a generated identity, and the identity itself for any other."""
    fields = gpu.split("-")
    if gpu.startswith("GPU-00000000-0000-0000-") and len(fields) == 6:
        return f"node{int(fields[4], 16)} GPU {int(fields[5], 16)}"
    return gpu


def _gpu_row(row, gpu, turns, gangs, begin_ns, end_ns):
    top = _TOP + _ROW * row
    parts = [f'<text x="0" y="{top + 26}">{escape(short_name(gpu))}</text>',
             f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{top + 34}" y2="{top + 34}" class="rule"/>']
    for turn in turns:
        colour = gangs.index(turn.gang)
        parts.append(_bar(turn.asked_ns, turn.begin_ns, top + 4, 6, f'url(#wait{colour % len(COLOURS)})',
                          f"{turn.gang} waits {turn.waited_ms:.2f} ms", begin_ns, end_ns))
        parts.append(_bar(turn.begin_ns, turn.end_ns, top + 12, _BAR, COLOURS[colour % len(COLOURS)],
                          f"{turn.gang} holds {turn.held_ms:.2f} ms", begin_ns, end_ns))
    return "\n".join(p for p in parts if p)


def _bar(from_ns, to_ns, y, height, fill, title, begin_ns, end_ns):
    left, right = max(from_ns, begin_ns), min(to_ns, end_ns)
    if right <= left:
        return ""
    x, width = _x(left, begin_ns, end_ns), _x(right, begin_ns, end_ns) - _x(left, begin_ns, end_ns)
    return (f'<rect x="{x:.1f}" y="{y}" width="{max(width, 0.5):.1f}" height="{height}" fill="{fill}">'
            f"<title>{escape(title)}</title></rect>")


def _x(t_ns, begin_ns, end_ns):
    return _LEFT + _WIDTH * (t_ns - begin_ns) / (end_ns - begin_ns)


def _axis(begin_ns, end_ns, y):
    total = (end_ns - begin_ns) / 1e6
    step = next(s for s in (5, 10, 20, 50, 100, 200, 500, 1000, 10 ** 9) if total / s <= 12)
    parts, at = [], 0.0
    while at <= total:
        x = _x(begin_ns + at * 1e6, begin_ns, end_ns)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{y + 4}" class="tick"/>'
                     f'<text x="{x:.1f}" y="{y + 20}" text-anchor="middle">{at:g} ms</text>')
        at += step
    return "".join(parts)


def _legend(gangs):
    parts, x = [], _LEFT
    for number, gang in enumerate(gangs):
        colour = number % len(COLOURS)
        computes = f"{gang} computes"
        waits = x + 34 + round(len(computes) * _CHARACTER)
        parts.append(f'<rect x="{x}" y="6" width="14" height="14" fill="{COLOURS[colour]}"/>'
                     f'<text x="{x + 20}" y="18">{escape(computes)}</text>'
                     f'<rect x="{waits}" y="9" width="14" height="8" fill="url(#wait{colour})"/>'
                     f'<text x="{waits + 20}" y="18">waits</text>')
        x = waits + 90
    return "".join(parts)


def _hatches(gangs):
    patterns = "".join(
        f'<pattern id="wait{n}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="2" height="4" fill="{COLOURS[n]}" opacity="0.55"/></pattern>'
        for n in range(min(len(gangs), len(COLOURS))))
    return f"<defs>{patterns}</defs>"

"""Draws lines in a frame as SVG. Pure: equal input gives equal text."""

import math
from dataclasses import dataclass
from html import escape

COLOURS = ("#7f7f7f", "#222222", "#a05195", "#2f6db5", "#d33c3c", "#e0852b", "#3c9d6d", "#8c564b", "#17a2b8")
_STYLE = ".grid { stroke: #ddd; } .frame { stroke: #888; fill: none; } text { font: 12px sans-serif; fill: #222; }"
_LEFT, _TOP, _WIDTH, _HEIGHT, _LEGEND = 60, 24, 620, 280, 18


@dataclass(frozen=True)
class Axis:
    label: str
    least: float
    most: float
    logarithmic: bool = False

    def part(self, value):
        """Returns where a value lies between the ends, from 0 to 1. Values beyond an end lie at that end."""
        least, most = self.least, self.most
        value = min(max(value, least), most)
        if self.logarithmic:
            value, least, most = math.log10(value), math.log10(least), math.log10(most)
        return (value - least) / (most - least)

    def ticks(self):
        if self.logarithmic:
            return [10.0 ** e for e in range(math.ceil(math.log10(self.least)), math.floor(math.log10(self.most)) + 1)]
        step = _step((self.most - self.least) / 5)
        return [step * n for n in range(math.ceil(self.least / step), math.floor(self.most / step + 1e-9) + 1)]


def decades(label, values):
    """Returns an axis of whole decades around positive values."""
    least, most = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return Axis(label, 10.0 ** least, 10.0 ** max(most, least + 1), True)


def lines(title, x, y, series):
    """Returns the SVG. `series` maps a name to its points in order of x."""
    height = _TOP + _HEIGHT + 44 + _LEGEND * len(series)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 40} {height}" role="img" '
             f'aria-label="{escape(title)}">', f"<style>{_STYLE}</style>",
             f'<text x="{_LEFT}" y="14">{escape(title)}</text>', *_grid(x, y),
             f'<rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" class="frame"/>']
    for number, (name, points) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = " ".join(f"{_x(x, px):.1f},{_y(y, py):.1f}" for px, py in points)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        top = _TOP + _HEIGHT + 50 + _LEGEND * number
        parts.append(f'<line x1="{_LEFT}" x2="{_LEFT + 24}" y1="{top - 4}" y2="{top - 4}" stroke="{colour}" '
                     f'stroke-width="3"/><text x="{_LEFT + 32}" y="{top}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _grid(x, y):
    for tick in x.ticks():
        at = _x(x, tick)
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_TOP + _HEIGHT}" class="grid"/>'
        yield f'<text x="{at:.1f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">{_shown(tick)}</text>'
    for tick in y.ticks():
        at = _y(y, tick)
        yield f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{_shown(tick)}</text>'
    yield f'<text x="{_LEFT + _WIDTH / 2:.0f}" y="{_TOP + _HEIGHT + 32}" text-anchor="middle">{escape(x.label)}</text>'
    yield (f'<text transform="translate(14 {_TOP + _HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">'
           f"{escape(y.label)}</text>")


def _x(axis, value):
    return _LEFT + _WIDTH * axis.part(value)


def _y(axis, value):
    return _TOP + _HEIGHT * (1 - axis.part(value))


def _step(least):
    """Returns the least of 1, 2, 5, 10, 20, ... and of 0.5, 0.2, 0.1, ... that is not below `least`."""
    decade = 10.0 ** math.floor(math.log10(least))
    return next(decade * of for of in (1, 2, 5, 10) if decade * of >= least * (1 - 1e-9))


def _shown(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.3g}"

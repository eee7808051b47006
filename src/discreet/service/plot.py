"""Effects with their intervals as inline SVG: positions in percent, text in pixels, so it fits
every screen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from discreet.service.numbers import nice_ticks, number, tick_label
from discreet.service.snapshot import Coefficient

_ROW = 46
_TOP = 8
_AXIS = 30
_MARGIN = 6.0  # percent on each side, so that end caps and tick labels are not cut


def forest_plot(coefficients: Sequence[Coefficient], title: str) -> str:
    """A dot and a line per feature, in the unit that the coefficients are in; the intercept is not
    drawn.
    """
    drawn = [c for c in coefficients if c.span is not None]
    low = min(0.0, *(c.low for c in drawn if math.isfinite(c.low)), 0.0)
    high = max(0.0, *(c.high for c in drawn if math.isfinite(c.high)), 0.0)
    ticks = nice_ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    height = _TOP + _ROW * len(drawn) + _AXIS
    floor = height - _AXIS

    def place(value: float) -> str:
        share = (min(max(value, low), high) - low) / (high - low) if high > low else 0.5
        return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}%"

    parts = [f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{escape(title)}">']
    for tick in ticks:
        kind = "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{place(tick)}" x2="{place(tick)}" y1="{_TOP}" y2="{floor}"/>')
        parts.append(f'<text class="tick" x="{place(tick)}" y="{floor + 18}">{tick_label(tick)}</text>')
    for row, c in enumerate(drawn):
        parts += _row(c, _TOP + _ROW * row, place(c.low), place(c.value), place(c.high))
    return "".join([*parts, "</svg>"])


def _row(c: Coefficient, top: int, low: str, value: str, high: str) -> list[str]:
    middle = top + 31
    ends = "".join(f'<line x1="{x}" x2="{x}" y1="{middle - 5}" y2="{middle + 5}"/>' for x in (low, high))
    return [
        f'<text class="name" x="0" y="{top + 17}">{escape(c.name)}</text>',
        f'<text class="value" x="100%" y="{top + 17}">{number(c.value)}</text>',
        f'<g class="{"sure" if c.certain else "unsure"}">',
        f'<line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>{ends}',
        f'<circle cx="{value}" cy="{middle}" r="5"/></g>',
    ]

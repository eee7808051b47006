"""Interval widths against the number of reports at published fits, as SVG on two log scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise

from discreet.service.numbers import log_ticks, tick_label

_HEIGHT, _TOP, _FLOOR = 210, 12, 176  # pixels
_LEFT, _RIGHT = 14.0, 96.0  # percent

Points = Sequence[tuple[int, float]]


def width_plot(points: Points, forecast: Points, goal: int, title: str) -> str:
    """Reports and half-widths: ``points`` as they were, a dashed line as ``forecast``, the goal as
    a line.
    """
    drawn = [(n, width) for n, width in [*points, *forecast] if width > 0 and math.isfinite(width)]
    least, most = min([goal, *(n for n, _ in drawn)]), max([goal, *(n for n, _ in drawn)])
    low, high = min(width for _, width in drawn) / 1.15, max(width for _, width in drawn) * 1.15

    def x(reports: float) -> float:
        return _LEFT + _share(reports, least, most) * (_RIGHT - _LEFT)

    def y(width: float) -> float:
        return _FLOOR - _share(width, low, high) * (_FLOOR - _TOP)

    parts = [f'<svg class="plot" width="100%" height="{_HEIGHT}" role="img" aria-label="{escape(title)}">']
    for tick in log_ticks(low, high):
        parts.append(f'<line class="grid" x1="{_LEFT}%" x2="{_RIGHT}%" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text class="tick right" x="0" y="{y(tick) + 4:.1f}">{tick_label(tick)}</text>')
    for tick in log_ticks(least, most):
        kind = (
            "tick left" if x(tick) > _RIGHT - 6 else "tick"
        )  # at the edge the label is beside the tick, not centred on it
        parts.append(f'<text class="{kind}" x="{x(tick):.2f}%" y="{_FLOOR + 19}">{tick_label(tick)}</text>')
    parts.append(f'<line class="zero" x1="{x(goal):.2f}%" x2="{x(goal):.2f}%" y1="{_TOP}" y2="{_FLOOR}"/>')
    parts.append(f'<text class="tick left" x="{x(goal) - 1:.2f}%" y="{_TOP + 10}">goal</text>')
    parts += _line("forecast", [(x(n), y(w)) for n, w in forecast if w > 0 and math.isfinite(w)])
    parts += _line("sure", [(x(n), y(w)) for n, w in points])
    for place, (n, width) in enumerate(points, 1):
        radius = 5 if place == len(points) else 2.5
        parts.append(f'<circle class="sure" cx="{x(n):.2f}%" cy="{y(width):.1f}" r="{radius}"/>')
    return "".join([*parts, "</svg>"])


def _line(kind: str, places: Sequence[tuple[float, float]]) -> list[str]:
    return [
        f'<line class="{kind}" x1="{x1:.2f}%" y1="{y1:.1f}" x2="{x2:.2f}%" y2="{y2:.1f}"/>'
        for (x1, y1), (x2, y2) in pairwise(places)
    ]


def _share(value: float, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low) if high > low else 0.5

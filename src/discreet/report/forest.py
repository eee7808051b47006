"""The coefficient plot as SVG: a thick bar for sampling error, a thin one for sampling error and
privacy noise.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

_WIDTH, _ROW, _TOP, _BOTTOM = 720, 34, 30, 40
_LEFT, _RIGHT = 170, 20
_LONGEST_NAME = 26


@dataclass(frozen=True)
class Bar:
    """One effect: its value and the half-widths of its two intervals; ``inner`` is None if not
    known.
    """

    name: str
    value: float
    outer: float
    inner: float | None

    @property
    def clear(self) -> bool:
        return abs(self.value) > self.outer


def forest_plot(bars: Sequence[Bar], axis: str) -> str:
    """All effects on one axis, which has 0 in it."""
    low = min(0.0, *(bar.value - bar.outer for bar in bars))
    high = max(0.0, *(bar.value + bar.outer for bar in bars))
    margin = 0.04 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def x(value: float) -> float:
        return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    height = _TOP + _ROW * len(bars) + _BOTTOM
    floor = height - _BOTTOM
    parts = []
    for tick in _ticks(low, high):
        parts.append(f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{_TOP - 8}" y2="{floor}"/>')
        parts.append(f'<text class="tick" x="{x(tick):.1f}" y="{floor + 16}">{_label(tick)}</text>')
    parts.append(f'<line class="zero" x1="{x(0):.1f}" x2="{x(0):.1f}" y1="{_TOP - 8}" y2="{floor}"/>')
    parts += [_row(bar, _TOP + _ROW * (i + 0.5), x) for i, bar in enumerate(bars)]
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text class="axis" x="{middle:.0f}" y="{height - 4}">{html.escape(axis)}</text>')
    return (
        f'<svg class="forest" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="coefficient plot">'
        f"{''.join(parts)}</svg>"
    )


def _row(bar: Bar, y: float, x: object) -> str:
    assert callable(x)
    name = bar.name if len(bar.name) <= _LONGEST_NAME else f"{bar.name[: _LONGEST_NAME - 1]}…"
    kind = "clear" if bar.clear else "unclear"
    left, right = x(bar.value - bar.outer), x(bar.value + bar.outer)
    said = f"<title>{html.escape(bar.name)}</title>"
    parts = [
        f'<text class="name" x="{_LEFT - 12}" y="{y + 4:.1f}">{html.escape(name)}{said}</text>',
        f'<line class="thin {kind}" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>',
    ]
    if bar.inner is not None:
        a, b = x(bar.value - bar.inner), x(bar.value + bar.inner)
        parts.append(f'<line class="thick {kind}" x1="{a:.1f}" x2="{b:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
    parts.append(f'<circle class="dot {kind}" cx="{x(bar.value):.1f}" cy="{y:.1f}" r="3.5"/>')
    return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Some four to seven round numbers."""
    step = 10.0 ** math.floor(math.log10((high - low) / 3))
    while (high - low) / step > 7:
        step *= 2.5 if f"{step:e}".startswith("2") else 2
    first = math.ceil(low / step)
    return [step * i for i in range(first, math.floor(high / step) + 1)]


def _label(value: float) -> str:
    if abs(value) >= 1e7:
        return f"{value:.2g}"
    return f"{value:,.0f}" if abs(value) >= 1e4 or value == 0 else f"{value:,.4g}"

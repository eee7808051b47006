"""Effects with their intervals as inline SVG: positions in percent, text in pixels, so it fits every screen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from discreet.service.snapshot import Coefficient

_ROW = 46
_TOP = 8
_AXIS = 30
_MARGIN = 6.0  # percent on each side, so that end caps and tick labels are not cut


def interval_plot(coefficients: Sequence[Coefficient], title: str) -> str:
    """A dot and a line per feature, each over half its declared range, which makes them comparable."""
    effects = [(c.name, c.span * c.low, c.span * c.value, c.span * c.high) for c in coefficients if c.span is not None]
    low = min(0.0, *(effect[1] for effect in effects))
    high = max(0.0, *(effect[3] for effect in effects))
    ticks = nice_ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    height = _TOP + _ROW * len(effects) + _AXIS
    floor = height - _AXIS

    def place(value: float) -> str:
        share = (value - low) / (high - low) if high > low else 0.5
        return f"{_MARGIN + share * (100 - 2 * _MARGIN):.2f}%"

    parts = [f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{escape(title)}">']
    for tick in ticks:
        kind = "zero" if tick == 0 else "grid"
        parts.append(f'<line class="{kind}" x1="{place(tick)}" x2="{place(tick)}" y1="{_TOP}" y2="{floor}"/>')
        parts.append(f'<text class="tick" x="{place(tick)}" y="{floor + 18}">{_tick(tick)}</text>')
    for row, effect in enumerate(effects):
        parts += _row(effect, _TOP + _ROW * row, *map(place, effect[1:]))
    return "".join([*parts, "</svg>"])


def _row(effect: tuple[str, float, float, float], top: int, low: str, value: str, high: str) -> list[str]:
    name, least, middle_value, most = effect
    middle = top + 31
    kind = "sure" if least > 0 or most < 0 else "unsure"
    ends = "".join(f'<line x1="{x}" x2="{x}" y1="{middle - 5}" y2="{middle + 5}"/>' for x in (low, high))
    return [
        f'<text class="name" x="0" y="{top + 17}">{escape(name)}</text>',
        f'<text class="value" x="100%" y="{top + 17}">{number(middle_value)}</text>',
        f'<g class="{kind}"><line x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>{ends}',
        f'<circle cx="{value}" cy="{middle}" r="5"/></g>',
    ]


def nice_ticks(low: float, high: float) -> list[float]:
    """Three to six round numbers that cover the range."""
    span = (high - low) or 1.0
    size = 10.0 ** math.floor(math.log10(span / 4))
    step = next(size * factor for factor in (1, 2, 5, 10) if span / (size * factor) <= 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [count * step for count in range(first, last + 1)]


def number(value: float) -> str:
    """Three digits that matter, with a real minus sign."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    text = f"{value:.3g}" if size >= 1e5 or 0 < size < 1e-4 else f"{value:,.{_decimals(size)}f}"
    return text.replace("-", "−")


def rough(value: float) -> str:
    """Two digits that matter: for bounds, of which nobody needs a third."""
    text = f"{float(f'{value:.2g}'):,.0f}" if 10 <= abs(value) < 1e6 else f"{value:.2g}"
    return text.replace("-", "−")


def _tick(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _decimals(size: float) -> int:
    return 2 if size == 0 else max(0, 2 - math.floor(math.log10(size)))

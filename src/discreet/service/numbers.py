"""Numbers as people read them on the page."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Three significant digits, with a typographic minus sign."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    text = f"{value:.3g}" if size >= 1e5 or 0 < size < 1e-4 else f"{value:,.{_decimals(size)}f}"
    return text.replace("-", "−")


def rough(value: float) -> str:
    """Two significant digits, for rough bounds."""
    if not math.isfinite(value):
        return number(value)
    text = f"{float(f'{value:.2g}'):,.0f}" if 10 <= abs(value) < 1e6 else f"{value:#.2g}"
    return text.replace("-", "−")


def storage(size: float) -> str:
    """An amount of storage."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def nice_ticks(low: float, high: float) -> list[float]:
    """Three to six round numbers that cover the range."""
    span = (high - low) or 1.0
    size = 10.0 ** math.floor(math.log10(span / 4))
    step = next(size * factor for factor in (1, 2, 5, 10) if span / (size * factor) <= 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [count * step for count in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Round numbers within the range, for a logarithmic scale: powers of ten, and more where there
    are too few.
    """
    for factors in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8), tuple(place / 10 for place in range(10, 100))):
        numbers = (factor * 10.0**power for power in range(-12, 14) for factor in factors)
        ticks = [n for n in numbers if low * (1 - 1e-9) <= n <= high * (1 + 1e-9)]
        if len(ticks) >= 3:
            break
    return ticks[:: max(1, math.ceil(len(ticks) / 5))]


def tick_label(value: float) -> str:
    """A round number, in full up to thousands."""
    text = f"{value:,.0f}" if abs(value) >= 1000 and value == round(value) else f"{value:.6g}"
    return text.replace("-", "−")


def _decimals(size: float) -> int:
    return 2 if size == 0 else max(0, 2 - math.floor(math.log10(size)))

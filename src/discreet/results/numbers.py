"""How numbers are written: the standard error determines the decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Beyond these limits all numbers of a row are written with powers of ten.
_LARGEST, _MOST_DECIMALS = 1e7, 6


def with_error(values: Sequence[float], error: float) -> list[str]:
    """Numbers of one row, in the same form: to the second digit of their standard error."""
    if not (math.isfinite(error) and error > 0):
        return [plain(value) for value in values]
    decimals = max(0, 1 - math.floor(math.log10(error)))
    largest = max([abs(value) for value in values if math.isfinite(value)], default=0.0)
    if largest >= _LARGEST or decimals > _MOST_DECIMALS:
        digits = 1 if largest == 0 else math.floor(math.log10(largest)) - math.floor(math.log10(error)) + 1
        return [f"{value:.{min(max(digits, 1), 3)}e}" for value in values]
    return [_unsigned_zero(f"{value:.{decimals}f}") for value in values]


def _unsigned_zero(written: str) -> str:
    """A number that was rounded to 0 has no sign."""
    return written if written.strip("-0.") else written.lstrip("-")


def plain(value: float) -> str:
    """A number whose error is not known: four digits."""
    if math.isfinite(value) and 1e4 <= abs(value) < _LARGEST:
        return f"{value:.0f}"
    return f"{value:.4g}"


def p_value(value: float) -> str:
    """A probability to three decimals; <0.001 for smaller ones."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def percent(share: float) -> str:
    """A share in percent; one that is neither 0 nor 1 is never shown as 0 % or 100 %."""
    if not math.isfinite(share):
        return "-"
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{share:.0%}".replace("%", " %")


def odds_factor(epsilon: float) -> str:
    """e to the epsilon as text: 2.7, 148, or as a power of e where it is very large."""
    if epsilon > math.log(1e6):
        return f"e^{epsilon:.4g}" if math.isfinite(epsilon) else "infinitely many"
    factor = math.exp(epsilon)
    return f"{factor:.2g}" if factor < 10 else f"{factor:,.0f}"

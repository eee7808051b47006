"""Interval arithmetic: the bounds of an expression from the bounds of its parts.

Bounds are those of interval arithmetic: exact where every column occurs once in the expression, and
never too narrow. Rounding is monotone, so the bounds that floats give hold for the numbers that
floats give; encoded features are cut to [-1, 1] besides, so that no sensitivity depends on this.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """All numbers from ``low`` to ``high``."""

    low: float
    high: float

    @classmethod
    def around(cls, *numbers: float) -> Interval:
        """The least interval that holds these numbers; a ValueError where one of them is no number
        or infinite.
        """
        if not all(math.isfinite(number) for number in numbers):
            raise ValueError("its bounds are not finite")
        return cls(min(numbers), max(numbers))

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def __add__(self, other: Interval) -> Interval:
        return Interval.around(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval.around(self.low - other.high, self.high - other.low)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __mul__(self, other: Interval) -> Interval:
        return Interval.around(*(a * b for a in (self.low, self.high) for b in (other.low, other.high)))

    def __truediv__(self, other: Interval) -> Interval:
        if 0 in other:
            raise ValueError(f"it divides by what can be 0: from {other.low:g} to {other.high:g}")
        return Interval.around(*(a / b for a in (self.low, self.high) for b in (other.low, other.high)))

    def __abs__(self) -> Interval:
        ends = abs(self.low), abs(self.high)
        return Interval(0.0 if 0 in self else min(ends), max(ends))

    @property
    def largest(self) -> float:
        """The largest magnitude."""
        return max(abs(self.low), abs(self.high))

    def power(self, exponent: float) -> Interval:
        """To a constant power."""
        if float(exponent).is_integer() and exponent >= 0:
            ends = [whole_power(end, int(exponent)) for end in (self.low, self.high)]
            return Interval.around(*ends, *([0.0] if exponent % 2 == 0 and exponent > 0 and 0 in self else []))
        if float(exponent).is_integer():
            return Interval(1.0, 1.0) / self.power(-exponent)
        if self.low < 0 or (exponent < 0 and self.low <= 0):
            raise ValueError(f"a power of {exponent:g} is not defined from {self.low:g} on")
        return Interval.around(self.low**exponent, self.high**exponent)

    def rising(self, function: Callable[[float], float], least: float = -math.inf, *, above: bool = False) -> Interval:
        """The image under an increasing function, which is defined from ``least`` on,
        or above it.
        """
        if self.low < least or (above and self.low <= least):
            raise ValueError(f"it is not defined {'at or ' * above}below {least:g}, but reaches down to {self.low:g}")
        try:
            return Interval.around(function(self.low), function(self.high))
        except OverflowError:
            raise ValueError("its bounds are not finite") from None


def whole_power(number: float, exponent: int) -> float:
    """By repeated multiplication, with the same rounding as for arrays of cells."""
    power = 1.0
    for _ in range(exponent):
        power *= number
    return power

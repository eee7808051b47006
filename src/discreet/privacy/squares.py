"""Exact arithmetic with mu^2, in which Gaussian costs add up: exact sums,
roots rounded to one side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from discreet.privacy.units import Unit


def sum_of_squares(costs: Iterable[Unit]) -> Fraction:
    """The exact sum of mu^2; every cost must have a finite mu."""
    return sum((Fraction(cost.mu) ** 2 for cost in costs), Fraction(0))


def root_below(square: Fraction) -> float:
    """The largest float whose exact square is at most this."""
    # In integers, finer than the smallest float: the square of a tiny mu underflows.
    scale = 2**1140
    root = float(Fraction(math.isqrt(square.numerator * scale**2 // square.denominator), scale))
    return root if Fraction(root) ** 2 <= square else math.nextafter(root, 0.0)


def root_above(square: Fraction) -> float:
    """The smallest float whose exact square is at least this."""
    root = root_below(square)
    return root if Fraction(root) ** 2 == square else math.nextafter(root, math.inf)

"""The discrete (two-sided geometric) Laplace law: P(i) proportional to exp(-|i| / scale).

An integer query of L1 sensitivity D plus independent noise of scale s in each coordinate is
exactly D/s-DP: moving the query by D changes the sum of |i| by at most D, hence any
probability by at most exp(D / s).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import overload

from discreet.noise.bits import Bits
from discreet.noise.blocks import Floats, Integers, check_scale, sample


@dataclass(frozen=True)
class LaplaceLaw:
    """f(i) = i / scale."""

    scale: float

    def exponent(self, magnitude: int) -> Fraction:
        """Return f(magnitude), exactly."""
        return magnitude / Fraction(self.scale)

    def excess(self, start: Floats, offset: Floats) -> Floats:
        """Return f(start + offset) - f(start), which is the same in every block."""
        return offset / self.scale  # one rounding


@overload
def discrete_laplace(scale: float, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def discrete_laplace(scale: float, size: int | tuple[int, ...], *, bits: Bits | None = None) -> Integers: ...
def discrete_laplace(
    scale: float, size: int | tuple[int, ...] | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw exact discrete Laplace noise: an int, or an int64 array of the given size."""
    return sample(LaplaceLaw(check_scale(scale)), size, bits)

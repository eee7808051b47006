"""The discrete Gaussian: P(i) proportional to exp(-i^2 / (2 scale^2)) on the integers.

Theorem. Let q be an integer vector query with m coordinates and L2 sensitivity D, and X have m
independent discrete Gaussian coordinates of scale s. If s^2 >= (D / mu)^2 + 4, then q + X is
mu-GDP up to factors exp(+-m eta) in probabilities, eta <= 1e-33: delta(epsilon) <= exp(m eta)
delta_mu(epsilon - 2 m eta). Exactly and for every s, it is also D^2 / (2 s^2)-zCDP (Canonne,
Kamath and Steinke, 2020).

Proof. Y = q + N(0, s^2 - 4) is mu-GDP, as is any post-processing of it. Round each coordinate y of
Y to the integer k with probability exp(-(k - y)^2 / 8) / Z(y). By Poisson summation Z(y) = 2 sqrt(2
pi) (1 + z(y)) with |z| at most 2.1 exp(-8 pi^2) < 1.1e-34, so the rounding is a Gaussian density of
variance 4 in k - y, up to that factor. Variances add: the integer k has weight exp(-(k - q)^2 /
(2 s^2)), which is the law of q + X, up to such factors. QED

docs/papers/discrete_gaussian.md has every step, and shows why a relative margin of 1e-12 in mu
covers eta for a billion coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import overload

from discreet.noise.bits import Bits
from discreet.noise.blocks import Floats, Integers, check_scale, sample


@dataclass(frozen=True)
class GaussianLaw:
    """f(i) = i^2 / (2 scale^2)."""

    scale: float

    def exponent(self, magnitude: int) -> Fraction:
        """Return f(magnitude), exactly."""
        numerator, denominator = self.scale.as_integer_ratio()
        return Fraction((magnitude * denominator) ** 2, 2 * numerator**2)

    def excess(self, start: Floats, offset: Floats) -> Floats:
        """Return f(start + offset) - f(start), factored so that there is no cancellation."""
        # Five roundings of 2**-53 each: 2 * start + offset is an integer below
        # 2**53, so it is exact.
        inverse = 1.0 / self.scale
        return (offset * inverse) * ((2.0 * start + offset) * (0.5 * inverse))


@overload
def discrete_gaussian(scale: float, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def discrete_gaussian(scale: float, size: int | tuple[int, ...], *, bits: Bits | None = None) -> Integers: ...
def discrete_gaussian(
    scale: float, size: int | tuple[int, ...] | None = None, *, bits: Bits | None = None
) -> int | Integers:
    """Draw exact discrete Gaussian noise: an int, or an int64 array of the given size.

    The standard deviation is at most `scale`, and equal to it within a
    relative 1.1e-7 if `scale >= 1`.
    """
    return sample(GaussianLaw(check_scale(scale)), size, bits)

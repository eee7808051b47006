"""Exact comparison of a uniform random number with a real one, at the cost of a 64-bit comparison.

A uniform real number has infinitely many binary digits, but the first few nearly always decide a
comparison. So digits are drawn when they are needed, and the other number is bounded as tightly as
the drawn digits require. The decision is the one that infinitely many digits would give; nothing
here is an approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from discreet.noise.bits import Bits

# Bounds(bits) are integers with low <= value * 2**bits <= high that converge
# to the value with bits.
Bounds = Callable[[int], tuple[int, int]]

# A float64 threshold decides alone if the uniform number is farther from it than this
# margin. It has to cover float errors below 2**-48 (proved where it is used). One decision
# in 2**39 takes the exact path.
MARGIN = 2.0**-40


@dataclass
class LazyUniform:
    """A uniform number in [digits, digits + 1) / 2**length; its further digits
    are not drawn yet.
    """

    digits: int
    source: Bits
    length: int = 64

    def refine(self) -> None:
        """Draw 64 more binary digits."""
        self.digits = (self.digits << 64) | int(self.source.words(1)[0])
        self.length += 64

    def is_below(self, bounds: Bounds) -> bool:
        """Decide exactly whether the number is below the value that `bounds` encloses."""
        while True:
            low, high = bounds(self.length)
            if self.digits + 1 <= low:
                return True
            if self.digits >= high:
                return False
            self.refine()


def wide_context(digits: int) -> Context:
    """A decimal context of this precision in which exponents neither overflow nor underflow."""
    return Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Integers at most 3 apart around exp(-exponent) * 2**bits, for exponent >= 0."""
    if exponent == 0:
        return 1 << bits, 1 << bits
    if exponent > bits:
        return 0, 1  # exp(-bits) < 2**-bits
    # Division and Decimal.exp round correctly, each with a relative error of at most
    # 10**(1 - digits) / 2. So the exponent is off by at most bits * 10**(1 - digits) / 2, and the
    # result by (bits + 1) * 10**(1 - digits) < 2**-bits.
    digits = bits // 3 + len(str(bits)) + 3
    context = wide_context(digits)
    ratio = context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))
    numerator, denominator = context.exp(ratio).as_integer_ratio()
    floor = (numerator << bits) // denominator
    return max(floor - 1, 0), floor + 2

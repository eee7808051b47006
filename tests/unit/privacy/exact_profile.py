"""The Gaussian privacy profile in 150-digit decimal arithmetic, independent of scipy and of the
code under test.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache

_DIGITS = 150


@lru_cache(maxsize=1)
def _pi() -> Decimal:
    # Machin: pi = 16 atan(1/5) - 4 atan(1/239).
    def arctan_of_inverse(x: int) -> Decimal:
        power = total = Decimal(1) / x
        k = 1
        while abs(power) > Decimal(10) ** -(_DIGITS + 5):
            power /= -x * x
            k += 2
            total += power / k
        return total

    return 16 * arctan_of_inverse(5) - 4 * arctan_of_inverse(239)


def _upper_tail(x: Decimal) -> Decimal:
    """1 - Phi(x): 1/2 less phi(x) (x + x^3/3 + x^5/15 + ...), whose terms are all of one sign."""
    term = total = x
    k = 1
    while abs(term) > Decimal(10) ** -(_DIGITS + 5) * max(abs(total), Decimal(1)):
        k += 2
        term *= x * x / k
        total += term
    return Decimal("0.5") - total * (-x * x / 2).exp() / (2 * _pi()).sqrt()


def exact_delta(epsilon: float, mu: float) -> Decimal:
    """Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2), good to 40 digits while
    epsilon/mu < 20.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        e, m = Decimal(epsilon), Decimal(mu)
        return _upper_tail(e / m - m / 2) - e.exp() * _upper_tail(e / m + m / 2)

"""The theorem of docs/papers/discrete_gaussian.md in one dimension, where delta(epsilon) can be
computed directly.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import lru_cache
from math import exp, isclose, sqrt

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

CASES = [(3, 1), (3, 2), (3, 7), (5, 1), (5, 4), (20, 1), (20, 13), (100, 1), (100, 50), (100, 250)]
DIGITS = 60


@lru_cache
def tail_masses(scale: int) -> tuple[list[Decimal], int]:
    """P(X <= i) for i = -reach..reach to 50 digits; what lies beyond the reach is below 1e-60."""
    reach = 17 * scale
    with localcontext(prec=DIGITS):
        weights = [(-Decimal(i * i) / (2 * scale * scale)).exp() for i in range(-reach, reach + 1)]
        total, running, masses = sum(weights), Decimal(0), []
        for weight in weights:
            running += weight
            masses.append(running / total)
    return masses, reach


def discrete_delta(scale: int, shift: int, epsilon: float) -> float:
    """Sum of max(0, P(X = i) - e^epsilon P(X + shift = i)): the ratio falls in i, so a tail is the
    optimal event.
    """
    masses, reach = tail_masses(scale)

    def mass(i: int) -> Decimal:
        return Decimal(0) if i < -reach else masses[min(i, reach) + reach]

    with localcontext(prec=DIGITS):
        last = int(np.floor(shift / 2 - epsilon * scale**2 / shift))
        # The neighbours of `last` guard against the rounding of the line above; the best event is
        # the maximum.
        gain = [mass(i) - Decimal(epsilon).exp() * mass(i - shift) for i in (last - 1, last, last + 1)]
        return float(max(gain))


def gaussian_delta(mu: float, epsilon: float) -> float:
    return ndtr(mu / 2 - epsilon / mu) - exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))


def epsilons(mu: float) -> np.ndarray:
    return np.linspace(0, 6 * mu + mu**2, 60)


@pytest.mark.parametrize(("scale", "shift"), CASES)
def test_variance_four_above_the_gaussian_one_is_enough(scale, shift):
    mu = shift / sqrt(scale**2 - 4)
    for epsilon in epsilons(mu):
        assert discrete_delta(scale, shift, epsilon) <= gaussian_delta(mu, epsilon)


@pytest.mark.parametrize(("scale", "shift"), [(3, 1), (5, 1), (20, 1)])
def test_without_the_surcharge_the_claim_would_be_false(scale, shift):
    # At epsilon = 0 both can be written down: P(X = 0) against 2 Phi(mu / 2) - 1, which is smaller.
    assert discrete_delta(scale, shift, 0.0) > gaussian_delta(shift / scale, 0.0)


def test_the_rounding_kernel_is_normalised_to_33_digits():
    # Z(y) = sum over k of exp(-(k - y)^2 / 8) varies by less than 1.1e-34 around 2 sqrt(2 pi).
    with localcontext(prec=DIGITS):
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
        mean = 2 * (2 * pi).sqrt()
        for y in (Decimal(0), Decimal("0.25"), Decimal("0.37"), Decimal("0.5")):
            normaliser = sum((-((k - y) ** 2) / 8).exp() for k in range(-50, 51))
            assert abs(normaliser / mean - 1) < Decimal("1.1e-34")
        at_zero = sum((-Decimal(k * k) / 8).exp() for k in range(-50, 51)) / mean - 1
        assert isclose(at_zero, 2 * (-8 * pi**2).exp(), rel_tol=1e-9)  # the bound is attained: no slack is hidden

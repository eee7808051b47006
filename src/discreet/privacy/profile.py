"""The exact privacy profile of Gaussian noise, in closed form.

A release whose sensitivity is ``mu`` noise standard deviations is mu-GDP,
which means for every epsilon

    delta(epsilon) = Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2).

Every inverse here is rounded to the private side: the returned ``mu`` is never above the true one,
the returned ``epsilon`` and noise never below it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import erfcx, ndtr

from discreet.parameters import is_number

# The relative error of the closed form below; every comparison leaves this much room.
PROFILE_ERROR = 1e-12

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_SQRT2 = math.sqrt(2.0)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The smallest delta for which a mu-GDP release is (epsilon, delta)-private, rounded up."""
    if epsilon < 0 or math.isnan(epsilon):
        raise ValueError(f"epsilon must be >= 0, got {epsilon}")
    if mu < 0 or math.isnan(mu):
        raise ValueError(f"mu must be >= 0, got {mu}")
    if mu == 0 or math.isinf(epsilon):
        return 0.0
    if math.isinf(mu):
        return 1.0
    # Never 0, which would be stronger than what Gaussian noise can give.
    return min(1.0, max(math.ulp(0.0), _delta(epsilon, mu) * (1 + PROFILE_ERROR)))


def _delta(epsilon: float, mu: float) -> float:
    # With near = epsilon/mu - mu/2 and far = epsilon/mu + mu/2, far^2 - near^2 = 2
    # epsilon, so the factor e^epsilon cancels: delta = e^(-near^2/2) / 2 *
    # (erfcx(near/sqrt 2) - erfcx(far/sqrt 2)).
    near = epsilon / mu - mu / 2
    far = epsilon / mu + mu / 2
    if near < 0 and mu >= 0.5:
        return float(ndtr(-near) - 0.5 * math.exp(-near * near / 2) * erfcx(far / _SQRT2))
    if mu < 0.5:
        # The two erfcx are nearly equal: integrating the derivative between them loses no digits.
        points = (epsilon / mu + mu / 2 * _NODES) / _SQRT2
        slope = 2 / math.sqrt(math.pi) - 2 * points * erfcx(points)
        difference = float(slope @ _WEIGHTS) * mu / (2 * _SQRT2)
    else:
        difference = float(erfcx(near / _SQRT2) - erfcx(far / _SQRT2))
    return 0.5 * math.exp(-near * near / 2) * difference


def gaussian_epsilon(delta: float, mu: float) -> float:
    """The smallest epsilon for which a mu-GDP release is (epsilon, delta)-private, rounded up."""
    check_delta(delta)
    if mu == 0 or gaussian_delta(0.0, mu) <= delta:
        return 0.0
    if math.isinf(mu) or delta == 0:
        return math.inf
    high = 1.0
    while gaussian_delta(high, mu) > delta:
        high *= 2
    return _boundary(lambda epsilon: gaussian_delta(epsilon, mu) <= delta, 0.0, high)[1]


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu whose releases are (epsilon, delta)-private, rounded down."""
    check_epsilon(epsilon)
    check_delta(delta)
    return _largest_mu(float(epsilon), float(delta))


@lru_cache(maxsize=256)  # a fit asks several times for the same budget
def _largest_mu(epsilon: float, delta: float) -> float:
    if delta == 0:
        raise ValueError("delta must be > 0 for Gaussian noise, got 0")
    if delta >= 1 or math.isinf(epsilon):
        return math.inf
    low = min(epsilon, 1.0)
    while gaussian_delta(epsilon, low) > delta:
        low /= 2
    high = low
    while gaussian_delta(epsilon, high) <= delta:
        high *= 2
    return _boundary(lambda mu: gaussian_delta(epsilon, mu) > delta, low, high)[0]


def gaussian_noise_std(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The smallest standard deviation of Gaussian noise that is (epsilon, delta)-private.

    This is the analytic value, valid for every epsilon. The textbook formula
    ``sqrt(2 ln(1.25/delta)) / epsilon`` is loose below epsilon = 1 and not
    private for large epsilon.

    Parameters
    ----------
    epsilon : float
        The privacy loss that is allowed. Smaller means more privacy and more noise.
    delta : float
        The probability with which epsilon may be exceeded; well below 1 over the number of people.
    sensitivity : float, default 1.0
        The largest change of the answer between neighbours, in L2 norm.

    Returns
    -------
    float
        The standard deviation.

    Examples
    --------
    >>> from discreet import gaussian_noise_std
    >>> round(gaussian_noise_std(1.0, 1e-6), 2)
    4.22
    """
    if not (sensitivity > 0 and math.isfinite(sensitivity)):
        raise ValueError(f"sensitivity must be finite and > 0, got {sensitivity}")
    mu = gaussian_mu(epsilon, delta)
    if math.isinf(mu):
        return 0.0
    return math.nextafter(sensitivity / mu, math.inf)


def classical_noise_std(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The noise that the papers print; only for ``calibration="paper"``, which
    reports its actual guarantee.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon


def check_finite_epsilon(epsilon: float) -> None:
    """For a requested epsilon: an infinite one gives no guarantee, and no
    noise could be drawn for it.
    """
    check_epsilon(epsilon)
    if math.isinf(epsilon):
        raise ValueError(f"epsilon must be a finite number > 0, got {epsilon!r}: an infinite one gives no guarantee")


def check_epsilon(epsilon: float) -> None:
    if not (is_number(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be a number > 0, got {epsilon!r}")


def check_delta(delta: float) -> None:
    if not (is_number(delta) and 0 <= delta <= 1):
        raise ValueError(f"delta must be a number between 0 and 1, got {delta!r}")


def _boundary(beyond: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Neighbouring floats around the point where ``beyond`` turns from false to true."""
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return low, high
        if beyond(middle):
            high = middle
        else:
            low = middle

"""The exact privacy profile of a perturbed objective with one coefficient, with one row and with
none.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit


def exact_profile(mu: float, curvature: float, epsilon: float, offset: float = 0.0) -> tuple[float, float]:
    """delta of the row removed, and of it added, by integrating both densities of the minimiser.

    J(theta) = log(1 + e^theta) - y theta + ridge (theta - offset)^2 / 2 + b theta, b ~ N(0,
    (1 / mu)^2); rows have length 1.
    """
    ridge, std = 1 / (4 * curvature), 1 / mu
    theta = np.linspace(-14 * std / ridge - 10, 14 * std / ridge + 10, 400_001)
    p = expit(theta)
    deltas = []
    for label in (0.0, 1.0):
        with_row = _density(p - label + ridge * (theta - offset), p * (1 - p) + ridge, std)
        without = _density(ridge * (theta - offset), np.full_like(theta, ridge), std)
        step = theta[1] - theta[0]
        deltas.append(
            [
                float(np.sum(np.maximum(0.0, a - np.exp(epsilon) * b)) * step)
                for a, b in ((with_row, without), (without, with_row))
            ]
        )
    return max(one[0] for one in deltas), max(one[1] for one in deltas)


def _density(linear: np.ndarray, slope: np.ndarray, std: float) -> np.ndarray:
    return np.exp(-((linear / std) ** 2) / 2) / np.sqrt(2 * np.pi) / std * slope

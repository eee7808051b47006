"""A single-index model on normal rows: its curvature, and the spread and middle of its index."""

from __future__ import annotations

import math

import numpy as np

from discreet.glm import Link
from discreet.rows import Floats

# Gauss-Hermite nodes for a standard normal: accurate to 2 % even at a kink.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
_WEIGHTS = _WEIGHTS / np.sum(_WEIGHTS)


def gaussian_curvature(link: Link, theta: Floats, mean: Floats, spread: float, power: int) -> Floats:
    """E[slope(eta)^power z z^T] for Gaussian z with E[z z^T] = 1: an approximation for the step,
    exact for elliptic rows.

    ``mean``: of z, whose first entry is 1 and the only one with an intercept. ``spread``: the
    assumed standard deviation of eta if theta's is smaller.
    """
    across = theta - mean * float(mean @ theta)  # the covariance of z with eta
    length = math.sqrt(max(float(theta @ across), 0.0))
    weight = _WEIGHTS * link.slope(float(mean @ theta) + max(length, spread) * _NODES) ** power
    zero, one, two = (float(np.sum(weight * _NODES**k)) for k in range(3))
    curvature = zero * np.eye(len(theta))
    if length > 0:
        unit = across / length
        curvature += (two - zero) * np.outer(unit, unit)
        curvature += one * (np.outer(mean, unit) + np.outer(unit, mean))
    return curvature


def likely_spread(link: Link, middle: float, variance: float) -> float:
    """The standard deviation of a Gaussian index for which the means have this variance.

    Means within a range are taken to vary no more than uniform ones: labels may vary more than any
    index explains, and a link that is almost flat everywhere would make all steps far too long.
    """
    width = link.greatest_mean - link.least_mean
    variance = min(variance, width**2 / 12)
    low, high = 0.0, 1.0

    def spread_of(scale: float) -> float:
        means = link.mean(middle + scale * _NODES)
        average = float(np.sum(_WEIGHTS * means))
        return float(np.sum(_WEIGHTS * (means - average) ** 2))

    while spread_of(high) < variance and high < 1e6:
        high *= 2
    for _ in range(40):
        half = (low + high) / 2
        low, high = (half, high) if spread_of(half) < variance else (low, half)
    return high


def likely_middle(link: Link, mean: float, least_step: float) -> float:
    """The index of a mean, which is first moved inside the link's range by
    ``least_step`` or a quarter of it.

    A noisy or far too wide spread may be larger than the range, or 0.
    """
    width = link.greatest_mean - link.least_mean
    least_step = min(max(least_step, 1e-6), width / 4 if math.isfinite(width) else math.inf)
    low = link.least_mean + least_step if math.isfinite(link.least_mean) else -math.inf
    high = link.greatest_mean - least_step if math.isfinite(link.greatest_mean) else math.inf
    return float(link.predictor(min(max(mean, low), high)))

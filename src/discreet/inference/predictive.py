"""Prediction intervals: the family's distribution, mixed over the uncertainty of its mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from discreet.glm import Family, Link
from discreet.inference.linear import Floats
from discreet.parameters import check_alpha

_NODES = 15
_HALVINGS = 52


def predictive_interval(
    family: Family, link: Link, eta: Floats, eta_std: Floats, dispersion: float, alpha: float
) -> Floats:
    """Quantiles alpha / 2 and 1 - alpha / 2 of a label whose predictor is normal about ``eta``.

    One (low, high) per row. Counts get whole numbers: the smallest at which the distribution
    function reaches the level.
    """
    check_alpha(alpha)
    nodes, weights = hermegauss(_NODES)
    weights = weights / weights.sum()
    means = link.mean(eta[:, np.newaxis] + eta_std[:, np.newaxis] * nodes)

    def mixed(values: Floats) -> Floats:
        return np.asarray(family.distribution(values[:, np.newaxis], means, dispersion) @ weights)

    levels = (alpha / 2, 1 - alpha / 2)
    return np.column_stack([_quantile(mixed, level, means, family, dispersion) for level in levels])


def _quantile(
    mixed: Callable[[Floats], Floats], level: float, means: Floats, family: Family, dispersion: float
) -> Floats:
    spread = np.sqrt(dispersion * family.variance(means)) * 40 + 40 * family.counts
    low, high = (means - spread).min(axis=1), (means + spread).max(axis=1)
    if family.nonnegative:
        low = np.full_like(low, -1.0 if family.counts else 0.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = mixed(middle) >= level
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray(np.floor(high + 1e-9) if family.counts else high)

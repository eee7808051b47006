"""Prediction intervals: the family's distribution, mixed over the uncertainty of its mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import betainc, gammainc, ndtr, pdtr

from discreet.errors import DiscreetError
from discreet.glm import Family, Link
from discreet.glm.families import Gamma, Gaussian, NegativeBinomial, Poisson
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
    distribution = _distribution(family, dispersion)

    def mixed(values: Floats) -> Floats:
        return np.asarray(distribution(values[:, np.newaxis], means) @ weights)

    whole = isinstance(family, (Poisson, NegativeBinomial))
    levels = (alpha / 2, 1 - alpha / 2)
    return np.column_stack([_quantile(mixed, level, means, family, dispersion, whole) for level in levels])


def _distribution(family: Family, dispersion: float) -> Callable[[Floats, Floats], Floats]:
    if isinstance(family, Gaussian):
        return lambda value, mean: ndtr((value - mean) / np.sqrt(dispersion))
    if isinstance(family, Poisson):
        return lambda value, mean: np.where(value >= 0, pdtr(np.floor(np.maximum(value, 0)), mean), 0.0)
    if isinstance(family, Gamma):
        return lambda value, mean: gammainc(1 / dispersion, np.maximum(value, 0) / (mean * dispersion))
    if isinstance(family, NegativeBinomial):
        shape = 1 / family.alpha
        return lambda value, mean: np.where(
            value >= 0, betainc(shape, np.floor(np.maximum(value, 0)) + 1, shape / (shape + mean)), 0.0
        )
    raise DiscreetError(f"the {family.name} family has no prediction intervals here; use mean_interval")


def _quantile(
    mixed: Callable[[Floats], Floats], level: float, means: Floats, family: Family, dispersion: float, whole: bool
) -> Floats:
    spread = np.sqrt(dispersion * family.variance(means)) * 40 + 40 * whole
    low, high = (means - spread).min(axis=1), (means + spread).max(axis=1)
    low = low if isinstance(family, Gaussian) else np.full_like(low, -1.0 if whole else 0.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = mixed(middle) >= level
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray(np.floor(high + 1e-9) if whole else high)

"""Newton steps on noisy clipped gradients, averaged so that no gradient's noise is thrown away.

In coordinates z with unit spread the curvature of a generalized linear model is known from its coefficients
(``Model.curvature``, exact for normal z), so a gradient costs a release and the Hessian none. Step t moves by the share
of all precision gathered so far that gradient t brings: the result is the average of the Newton targets, weighed by
what is known of their noise, and of the start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from discreet.algorithms.steps.sparse_model import Model
from discreet.algorithms.steps.support_coordinates import SupportCoordinates
from discreet.privacy import GDP
from discreet.rows import Floats, Source, SupportScores

# Rows are shortened to this multiple of their typical norm, scores clipped to this many standard deviations ...
_RADIUS, _SCORE = 1.0, 1.8
# ... and to more as the noise falls below this multiple of the sampling error.
_GROWTH = 0.6
# Coefficients no longer than this in unit coordinates: a probability is then certain, a mean astronomical.
_LONGEST = 10.0
_QUANTILES = ndtri((np.arange(64) + 0.5) / 64)


@dataclass(frozen=True, eq=False)
class Averaged:
    """Coefficients of (1, z) and the variance of privacy and sampling noise in each, as far as known."""

    phi: Floats
    noise_variance: float
    sampling_variance: float


def averaged_newton(
    source: Source,
    model: Model,
    coordinates: SupportCoordinates,
    start: Floats,
    start_variance: float,
    costs: Sequence[GDP],
    count: float,
) -> Averaged:
    """Privacy: asks the source for one sum per cost."""
    phi, precision = _within(start), 1 / max(start_variance, 1e-12)
    size = coordinates.size
    for cost in costs:
        curvature = model.curvature(phi)
        weight = float(np.trace(curvature)) / size
        spread = math.sqrt(max(model.weight_over(float(phi[0]), float(phi[1:] @ phi[1:])), 1e-12))
        query = _gradient(source, model, coordinates, phi, spread, cost, count)
        answer = source.sum(query, cost)
        kept = count * _kept(query.radius, size)
        gained = (weight * kept / answer.noise_std) ** 2
        precision += gained
        step = np.linalg.solve(curvature + 1e-6 * weight * np.eye(size), answer.value[:, 0] / kept)
        phi = _within(phi - gained / precision * step)
    return Averaged(phi, 1 / precision, 1 / (weight * count))


def _gradient(
    source: Source, model: Model, coordinates: SupportCoordinates, phi: Floats, spread: float, cost: GDP, count: float
) -> SupportScores:
    """The gradient query whose clips balance bias against noise, by public and released numbers only."""
    radius = _RADIUS * math.sqrt(coordinates.size)
    narrow = SupportScores(coordinates.map(phi), model.labels, model.score, radius, _SCORE * spread * radius)
    noise = source.noise_std(narrow, cost)
    growth = max(1.0, (_GROWTH * spread * math.sqrt(count) / noise) ** 0.5)
    radius *= growth
    clip = radius * _SCORE * spread * growth
    if model.family.name == "bernoulli":
        clip = min(clip, radius)  # |score| <= 1
    return SupportScores(coordinates.map(phi), model.labels, model.score, radius, clip)


def _kept(radius: float, size: int) -> float:
    """E[min(1, radius / |(1, z)|)]: what shortening far rows leaves of gradient and curvature alike."""
    width = max(size - 1, 1)
    # Wilson and Hilferty: the cube root of a chi-square is about normal.
    cube = 1 - 2 / (9 * width) + _QUANTILES * math.sqrt(2 / (9 * width))
    norms = np.sqrt(1 + width * np.maximum(cube, 0.0) ** 3)
    return float(np.mean(np.minimum(1.0, radius / norms)))


def _within(phi: Floats) -> Floats:
    return np.asarray(phi * min(1.0, _LONGEST / max(float(np.linalg.norm(phi)), 1e-300)))

"""What public rows tell about a model before any private row is queried; poor
public data tells little.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.domain import Encoder, Public
from discreet.errors import DomainError
from discreet.estimators.public_fit import LEAST_ROWS, PublicRows, fit_public
from discreet.estimators.public_moment import public_moments
from discreet.rows import Floats

# Beyond this multiple of the average, more damping changes nothing.
_MOST_DAMPING = 1e6
# Relative to a normal distribution, a kurtosis up to this may occur by chance with few rows.
_NORMAL_TAILS = 1.5


def public_guess(public: Public, encoder: Encoder, model: GlmModel, labels: Any = None) -> Guess:
    """Scaling, white coordinates and, if public rows have labels, a fit; ``labels``
    converts them to numbers.
    """
    mean, covariance, count, x = public_moments(public, encoder, intercept=model.origin is None)
    average = max(float(np.trace(covariance)) / encoder.width, 1e-9)
    scaling = XScaling(np.clip(mean, -1, 1), math.sqrt(average))
    coordinates = None
    if model.origin is None:
        coordinates = _white_coordinates(mean, covariance, count, x, None, stretched=False)
    white = _white_coordinates(mean, covariance, count, x, model.origin, stretched=True)
    if x is None or public.y is None:
        return Guess(scaling, coordinates, None, white)
    try:
        y = np.asarray(public.y if labels is None else labels(public.y), dtype=np.float64)
    except (TypeError, ValueError):
        raise DomainError(f"public y must be labels such as those of fit, got {type(public.y).__name__}") from None
    if y.shape != (x.shape[1],) or not np.isfinite(y).all():
        raise DomainError(f"public y must have one declared label for each of the {x.shape[1]} public rows")
    offset = _offset(public, encoder, count)
    if count < LEAST_ROWS:
        return Guess(scaling, coordinates, None, white)
    y = np.clip(y, model.labels.low, model.labels.high)  # like private labels
    return Guess(scaling, coordinates, fit_public(model, PublicRows(x, y, offset), coordinates), white)


def _offset(public: Public, encoder: Encoder, count: int) -> Floats:
    """The offsets of public rows; exposures are clipped to the declared range,
    like private ones.
    """
    declared = encoder.exposure
    if public.exposure is None:
        if declared is not None:
            raise DomainError(
                "the private rows have an exposure, so labels of public rows need one as well: "
                "pass Public(rows, y, exposure=...), or leave y out"
            )
        return np.zeros(count)
    if declared is None:
        raise DomainError("public rows have an exposure, but fit was given none")
    exposure = np.asarray(public.exposure, dtype=np.float64)
    if exposure.shape != (count,) or not np.isfinite(exposure).all():
        raise DomainError(f"public exposure must have one number for each of the {count} public rows")
    return np.log(np.clip(exposure, declared.low, declared.high))


def _damped(covariance: Floats, count: int, average: float, x: Floats | None, stretched: bool) -> Floats:
    """Each direction's variance shrunk towards the average, as much as one row per column would do.

    ``stretched``: no shrinkage if there are twice as many rows as columns and they are about
    normal. Flat directions are then known as precisely as wide ones (PMT, Theorem 3.1).

    If rows are heavy-tailed along a direction (a rare level), its variance is known as from fewer
    rows, and stretching it would turn the rows that have it into outliers. Its shrinkage grows with
    the ratio of its kurtosis to a normal distribution's 3.
    """
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    tails = np.ones(len(values))
    if x is not None:
        fourth = np.mean((vectors.T @ x) ** 4, axis=1)
        tails = np.maximum(fourth / np.maximum(values, 1e-9 * average) ** 2 / 3, 1.0)
    rows = len(values) / count
    if stretched and count >= 2 * len(values):
        tails, rows = np.maximum(tails - _NORMAL_TAILS, 0.0), rows * float(np.any(tails > _NORMAL_TAILS))
    damped = np.maximum(values, 0.0) + average * np.minimum(rows * tails, _MOST_DAMPING)
    return np.asarray((vectors * (damped / (1 + rows))) @ vectors.T)


def _white_coordinates(
    mean: Floats, covariance: Floats, count: int, x: Floats | None, origin: Floats | None, *, stretched: bool
) -> Coordinates:
    """White about the mean, with a constant; or, for a model without an
    intercept, white about its origin.
    """
    middle = mean if origin is None else origin
    moment = covariance + np.outer(mean - middle, mean - middle)
    average = max(float(np.trace(moment)) / len(mean), 1e-9)
    damped = _damped(moment, count, average, None if x is None else x - middle[:, np.newaxis], stretched)
    values, vectors = np.linalg.eigh((damped + damped.T) / 2)
    root = (vectors / np.sqrt(np.maximum(values, 1e-9 * max(float(values[-1]), 1e-9)))) @ vectors.T
    return Coordinates.turned(root, middle, constant=origin is None)

"""What public rows say about a model before any private row is asked; poor public data says little, by design."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.first_look import XScaling
from discreet.algorithms.steps.glm_model import GlmModel, Guess
from discreet.domain import Encoder, Public
from discreet.errors import DomainError
from discreet.estimators.tables import is_frame
from discreet.glm import fit_plain
from discreet.rows import Floats

# A fit to fewer labelled rows than so many per coefficient is mostly noise: a worse start than the constant model.
_LABELLED_ROWS = 4


def public_guess(public: Public, encoder: Encoder, model: GlmModel, labels: Any = None) -> Guess:
    """Scaling, white coordinates and, where public rows have labels, a fit; ``labels`` turns them into numbers."""
    mean, covariance, count, x = _moments(public, encoder)
    width = encoder.width
    # Each direction's variance is drawn towards the average, as much as so few rows deserve.
    average = max(float(np.trace(covariance)) / width, 1e-9)
    damped = (count * covariance + width * average * np.eye(width)) / (count + width)
    scaling = XScaling(np.clip(mean, -1, 1), math.sqrt(average))
    coordinates = _white(mean, damped) if model.origin is None else None
    if x is None or public.y is None:
        return Guess(scaling, coordinates, None, count)
    y = np.asarray(public.y if labels is None else labels(public.y), dtype=np.float64)
    if y.shape != (x.shape[1],) or not np.isfinite(y).all():
        raise DomainError(f"public y must have one declared label for each of the {x.shape[1]} public rows")
    if count < _LABELLED_ROWS * model.size:
        return Guess(scaling, coordinates, None, count)
    y = np.clip(y, model.labels.low, model.labels.high)  # as private labels are
    return Guess(scaling, coordinates, _fit(model, coordinates, x, y), count)


def _moments(public: Public, encoder: Encoder) -> tuple[Floats, Floats, int, Floats | None]:
    """Mean and covariance of the encoded features, the number of rows behind them, and the rows themselves if given."""
    if public.rows is not None:
        framed, columns = is_frame(public.rows), len(encoder.domain.columns)
        rows = public.rows if framed else np.asarray(public.rows)
        if not framed and (rows.ndim != 2 or rows.shape[1] != columns):
            raise DomainError(f"public rows must have the {columns} columns of X, got shape {rows.shape}")
        x = encoder.encode(rows).x
        if x.shape[1] < 2 or not np.isfinite(x).all():
            raise DomainError("public rows must be at least two and complete, with every value declared")
        return x.mean(axis=1), np.cov(x, bias=True).reshape(len(x), len(x)), x.shape[1], x
    moment = np.asarray(public.second_moment, dtype=np.float64)
    if moment.shape != (encoder.width + 1, encoder.width + 1):
        raise DomainError(
            f"second_moment must be that of (1, x): {encoder.width + 1} rows and columns, got shape {moment.shape}"
        )
    least = float(np.linalg.eigvalsh((moment + moment.T) / 2)[0])
    if not (moment[0, 0] > 0 and least >= -1e-6 * float(np.trace(moment))):
        raise DomainError("second_moment must be that of rows (1, x): symmetric, with no negative eigenvalue")
    moment = moment / moment[0, 0]
    mean = (moment[0, 1:] - encoder.centre) / encoder.half_width
    covariance = moment[1:, 1:] - np.outer(moment[0, 1:], moment[0, 1:])
    return mean, covariance / np.outer(encoder.half_width, encoder.half_width), int(public.n or 1), None


def _white(mean: Floats, covariance: Floats) -> Coordinates:
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    turn = (vectors / np.sqrt(np.maximum(values, 1e-9 * max(float(values[-1]), 1e-9)))) @ vectors.T
    matrix = np.zeros((len(mean) + 1, len(mean) + 1))
    matrix[0, 0] = 1.0
    matrix[1:, 1:] = turn
    matrix[1:, 0] = -turn @ mean
    return Coordinates(matrix)


def _fit(model: GlmModel, coordinates: Coordinates | None, x: Floats, y: Floats) -> Floats:
    """Coefficients of (1, x) from the public rows, held towards the constant model as one row per coefficient would."""
    ones = np.vstack([np.ones(x.shape[1]), x])
    if coordinates is None and model.origin is not None:
        coordinates = Coordinates.through_origin(model.origin, 1.0)
    assert coordinates is not None
    z = (coordinates.matrix @ ones).T
    start = np.zeros(z.shape[1])
    if coordinates.constant:
        room = 0.5 / len(y) * (model.labels.high - model.labels.low)
        mean = min(max(float(y.mean()), model.labels.low + room), model.labels.high - room)
        start[0] = float(model.link.predictor(mean))
    weight = float(np.mean(model.family.weight(z @ start, model.link)))
    penalty = np.full(z.shape[1], max(weight, 1e-6) * z.shape[1] / len(y) / 4)
    penalty[: int(coordinates.constant)] = 1e-9
    own = (coordinates.matrix[:, 1:] * model.penalty) @ coordinates.matrix[:, 1:].T / len(y)
    return coordinates.coefficients(fit_plain(model.family, model.link, z, y, penalty + np.diag(own), start))

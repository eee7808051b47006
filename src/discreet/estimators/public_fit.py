"""The fit to public rows alone, with a ridge chosen by cross-validation among
them; it costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.glm import fit_plain
from discreet.rows import Floats

_FOLDS = 5
# Ridges in numbers of rows: that many additional rows without any effect, in every direction.
_RIDGES = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
# At least two rows per fold.
LEAST_ROWS = 2 * _FOLDS


@dataclass(frozen=True, eq=False)
class PublicRows:
    """Encoded public rows, one per column of x, with labels and offsets."""

    x: Floats
    y: Floats
    offset: Floats

    def design(self, coordinates: Coordinates) -> Floats:
        return coordinates.of_rows(self.x).T


def fit_public(model: GlmModel, rows: PublicRows, white: Coordinates | None) -> Floats:
    """Coefficients of (1, x).

    A ridge treats all directions alike in coordinates where rows are white, or where columns have
    equal variance. Which is better depends on the signal, so both are tried.
    """
    candidates = [_standardised(model, rows.x)] + ([] if white is None else [white])
    best, least = None, np.inf
    for coordinates in candidates:
        design = rows.design(coordinates)
        start = _constant_model(model, rows, coordinates)
        for ridge in _RIDGES:
            loss = _held_out(model, rows, design, coordinates, ridge, start)
            if best is None or loss < least:
                best, least = (coordinates, ridge), loss
    assert best is not None
    coordinates, ridge = best
    design, start = rows.design(coordinates), _constant_model(model, rows, coordinates)
    return coordinates.coefficients(_fit(model, rows, design, coordinates, ridge, start, np.arange(len(rows.y))))


def _standardised(model: GlmModel, x: Floats) -> Coordinates:
    """Columns with equal variance; a floor prevents stretching of levels that few
    public rows have.
    """
    spread = np.sqrt(x.var(axis=1) + 0.01)
    if model.origin is not None:
        return Coordinates.through_origin(model.origin, spread)
    return Coordinates.scaled(x.mean(axis=1), spread)


def _constant_model(model: GlmModel, rows: PublicRows, coordinates: Coordinates) -> Floats:
    start = np.zeros(coordinates.size)
    if coordinates.constant:
        labels = model.labels
        room = 0.5 / len(rows.y) * (labels.high - labels.low)
        mean = min(max(float(rows.y.mean()), labels.low + room), labels.high - room)
        start[0] = float(model.link.predictor(mean)) - float(np.mean(rows.offset))
    return start


def _fit(
    model: GlmModel,
    rows: PublicRows,
    design: Floats,
    coordinates: Coordinates,
    ridge: float,
    start: Floats,
    kept: NDArray[np.intp],
) -> Floats:
    weight = float(np.mean(model.family.weight(design @ start + rows.offset, model.link)))
    penalty = np.full(len(start), max(weight, 1e-6) * ridge / len(kept))
    penalty[: int(coordinates.constant)] = 1e-9
    penalty += (coordinates.matrix[:, 1:] ** 2 @ model.penalty) / len(kept)
    return fit_plain(model.family, model.link, design[kept], rows.y[kept], penalty, start, rows.offset[kept])


def _held_out(
    model: GlmModel, rows: PublicRows, design: Floats, coordinates: Coordinates, ridge: float, start: Floats
) -> float:
    fold, total = np.arange(len(rows.y)) % _FOLDS, 0.0
    for left_out in range(_FOLDS):
        phi = _fit(model, rows, design, coordinates, ridge, start, np.flatnonzero(fold != left_out))
        tested = fold == left_out
        eta = design[tested] @ phi + rows.offset[tested]
        total += float(np.sum(model.family.deviance(rows.y[tested], model.link.mean(eta))))
    return total if np.isfinite(total) else np.inf

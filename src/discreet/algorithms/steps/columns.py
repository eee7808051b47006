"""Columns whose variation noise hides: those far narrower than their declared bounds.

Second moments show the variance of wide columns. Where noise hides it, a histogram of the column
may still show that its rows do not all lie in one place. glm/narrow.py tells what follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates
from discreet.algorithms.steps.levels import Category, declared_places
from discreet.algorithms.steps.rare import Direction, RareColumns
from discreet.glm.narrow import NARROWEST, SEEN
from discreet.rows import Answer, Floats
from discreet.rows.histograms import ColumnHistograms

# Cells of a column's histogram. A column is narrow if two neighbouring cells hold this part of its
# rows.
_CELLS, _NARROW = 32, 0.95
# A column is mostly constant if two neighbouring cells seem to hold this part.
_MOSTLY = 0.9


def column_histograms(width: int) -> ColumnHistograms:
    return ColumnHistograms(width, _CELLS)


def spread_out(query: ColumnHistograms, answer: Answer, count: float, count_noise_std: float) -> Floats:
    """For each column, by how many standard deviations of the noise its rows are not in one place.

    0 if they may be. ``count``: the noisy number of complete rows, which alone are counted.
    """
    counts = query.read(answer.value)
    fullest = np.max(counts[:, 1:] + counts[:, :-1], axis=1)
    noise = math.hypot(math.sqrt(2) * answer.noise_std, _NARROW * count_noise_std)
    return np.asarray(np.maximum((_NARROW * count - fullest) / noise, 0.0))


def rare_columns(
    query: ColumnHistograms, answer: Answer, count: float, mean: Floats, declared: tuple[Category, ...] = ()
) -> RareColumns:
    """Which columns may be indicators of rare categories: nearly all of their rows lie at an end of
    the range, or at 0 as encoded. ``mean``: of each column, as encoded. ``declared``: categories
    that are declared, whose columns are known to be indicators.
    """
    counts = query.read(answer.value)
    pairs = counts[:, 1:] + counts[:, :-1]
    last = pairs.shape[1] - 1
    mostly = np.max(pairs, axis=1) > _MOSTLY * count
    place = np.isin(np.argmax(pairs, axis=1), (0, last // 2, last // 2 + 1, last))
    # An indicator's mean shows its rate, with less noise than the histogram.
    numbers = ~declared_places(declared, len(mean))
    return RareColumns(mostly & place & numbers, (np.abs(mean) > 2 * _MOSTLY - 1) & numbers, mean, declared)


def hidden(coordinates: Coordinates, moment: Floats, noise_std: float, spread: Floats | None = None) -> tuple[int, ...]:
    """The columns that may be narrow: neither a second moment of z nor the histograms exclude it.

    ``noise_std``: in an entry on the diagonal; entries beside it have half of that variance, so
    b^T moment b has the noise |b|^2 noise_std for any b.
    """
    back = np.asarray(np.linalg.pinv(coordinates.matrix[int(coordinates.constant) :, 1:]))
    evidence = np.hypot(_clear(coordinates, moment, noise_std, back), 0.0 if spread is None else spread)
    return tuple(np.flatnonzero(evidence < SEEN).tolist())


def hidden_references(coordinates: Coordinates, moment: Floats, noise_std: float, rare: RareColumns) -> list[Direction]:
    """The reference levels that may have no rows: noise hides them in the moment and in the look.

    The slopes of all other levels are differences from theirs.
    """
    found: list[Direction] = []
    if not coordinates.constant:
        return found
    back = np.asarray(np.linalg.pinv(coordinates.matrix[1:, 1:]))
    for category, reference in zip(rare.declared, rare.references(coordinates), strict=True):
        whole = np.sum(back[category.places], axis=0, keepdims=True)
        clear = float(_clear(coordinates, moment, noise_std, whole)[0])
        if math.hypot(clear, float(category.clear[0])) < SEEN:
            found.append(reference)
    return found


def _clear(coordinates: Coordinates, moment: Floats, noise_std: float, back: Floats) -> Floats:
    """By how many standard deviations of the noise these sums of columns vary by a second moment of
    z; ``back``: the maps from z to them.
    """
    first = int(coordinates.constant)
    covariance, noise = moment[first:, first:], noise_std
    if first:
        mass = max(float(moment[0, 0]), noise_std, 1e-300)  # noise may make it negative
        shift = moment[0, 1:] / mass
        covariance, noise = covariance / mass - np.outer(shift, shift), noise_std / mass
    variances = np.einsum("ji,ik,jk->j", back, covariance, back)
    clear = variances / np.maximum(noise * np.sum(back**2, axis=1), 1e-300)
    return np.asarray(np.maximum(clear, 0.0))


def unknown_slopes(coordinates: Coordinates, columns: Sequence[int], effect: float) -> Floats:
    """The covariance of phi if the slopes of these columns are unknown: they contribute up to
    ``effect``, a standard deviation of the predictor, and are as narrow as can be.

    With an intercept, the predictor at the mean of the rows is known whatever the slope.
    """
    slopes = _slopes(coordinates, columns)
    phi = np.array([coordinates.phi(slope) for slope in slopes]).reshape(len(slopes), coordinates.size)
    return np.asarray((effect / NARROWEST) ** 2 * phi.T @ phi)


def unknown_directions(coordinates: Coordinates, columns: Sequence[int], effect: float) -> Floats:
    """The same of the coefficients of (1, x)."""
    slopes = _slopes(coordinates, columns)
    return np.asarray((effect / NARROWEST) ** 2 * slopes.T @ slopes)


def _slopes(coordinates: Coordinates, columns: Sequence[int]) -> Floats:
    """For each column, the coefficients of (1, x) along which its slope alone changes."""
    columns = list(columns)
    slopes = np.eye(coordinates.matrix.shape[1])[1:][columns]
    if coordinates.constant:
        slopes[:, 0] = -_centre(coordinates)[columns]
    else:  # the constant follows from the slopes
        slopes[:, 0] = (np.linalg.pinv(coordinates.matrix[:, 1:]) @ coordinates.matrix[:, 0])[columns]
    return slopes


def plausible(coordinates: Coordinates, phi: Floats, columns: Sequence[int], most: float) -> Floats:
    """Phi (coordinates x predictors) with an effect of at most ``most`` for each of these columns,
    from one declared bound to the other, and the same predictors at the mean of the rows.

    Columns are encoded with bounds -1 and 1.
    """
    if not columns or math.isinf(most):
        return phi
    matrix, first = coordinates.matrix, int(coordinates.constant)
    slopes, places = (matrix.T @ phi)[1:], list(columns)
    excess = np.zeros_like(slopes)
    excess[places] = slopes[places] - np.clip(slopes[places], -most / 2, most / 2)
    # Without an intercept the constant follows from the slopes.
    change = np.vstack([-_centre(coordinates) @ excess, excess]) if first else excess
    # Least squares: extreme noise may leave coordinates of which one is another to the last digit.
    return np.asarray(phi - np.linalg.lstsq(matrix[:, 1 - first :].T, change, rcond=None)[0])


def _centre(coordinates: Coordinates) -> Floats:
    """The mean of rows, as far as it is known: z is 0 there."""
    matrix = coordinates.matrix
    return np.asarray(-np.linalg.pinv(matrix[1:, 1:]) @ matrix[1:, 0])

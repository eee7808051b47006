"""TukeyEM, written from Amin, Joseph, Ribero and Vassilvitskii 2022, "Easy differentially private
linear regression".

Ordinary least squares on m disjoint parts of the rows, then the exponential mechanism on the
(approximate) Tukey depth among the m models. One person is in one part whatever the neighbour
relation, so both cost the same. Needs no bounds. Half of epsilon tests that the data set is far
from one where the mechanism would not be private (propose, test, release); where that fails there
is no model, and the weights are NaN.
"""

from __future__ import annotations

import math

import numpy as np
from benchmarks.peers.setting import Privacy, Rows

MOST_MODELS = 1_000  # the paper's choice
ROWS_PER_COLUMN = 1.5  # rows of a part per column, where that gives fewer models


def tukey_em(rows: Rows, privacy: Privacy, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Weights, one line per draw of the parts and the noise; NaN where the test failed."""
    n_models = min(MOST_MODELS, int(len(rows.y) / (ROWS_PER_COLUMN * rows.n_columns)))
    weights = np.full((draws, rows.n_columns), math.nan)
    if n_models < 8:
        return weights
    epsilon, depth = privacy.epsilon / 2, n_models // 4
    for draw in range(draws):
        sorted_models = np.sort(_models(rows, n_models, rng), axis=0)
        log_volumes = _log_volumes(sorted_models)
        # The distance has sensitivity 1, so the Laplace noise has scale 1 / epsilon (of this half).
        distance = _distance_to_unsafety(log_volumes, depth, epsilon, privacy) + rng.laplace(scale=1 / epsilon)
        if distance >= math.log(1 / privacy.delta) / epsilon:
            weights[draw] = _exponential_mechanism(sorted_models, log_volumes, depth, epsilon, rng)
    return weights


def _models(rows: Rows, n_models: int, rng: np.random.Generator) -> np.ndarray:
    order = rng.permutation(len(rows.y))[: len(rows.y) // n_models * n_models].reshape(n_models, -1)
    X, y = rows.X[order], rows.y[order]
    second = np.swapaxes(X, 1, 2) @ X
    cross = np.swapaxes(X, 1, 2) @ y[:, :, None]
    return (np.linalg.pinv(second, hermitian=True) @ cross)[:, :, 0]


def _log_volumes(sorted_models: np.ndarray) -> np.ndarray:
    """Element i: the log-volume of the box of points whose depth in every coordinate is at least
    i + 1.
    """
    n_depths = len(sorted_models) // 2
    widths = sorted_models[::-1][:n_depths] - sorted_models[:n_depths]
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(widths, 0)).sum(axis=1)


def _distance_to_unsafety(log_volumes: np.ndarray, depth: int, epsilon: float, privacy: Privacy) -> int:
    """How many models may change before a neighbour could tell: the largest k for which some gap
    g > 0 has

    V(depth - k - 1) / V(depth + k + g + 1) e^(-epsilon g / 2) <= delta', with delta / 2 = 4
    e^epsilon delta'.
    """
    log_delta = math.log(privacy.delta / 8) - privacy.epsilon
    volume = np.concatenate([[math.inf], log_volumes])  # by depth, from 0: everything
    for k in range(depth - 2, -1, -1):
        inner = np.arange(depth + k + 2, len(volume))
        gaps = inner - depth - k - 1
        if np.any(volume[depth - k - 1] - volume[inner] - epsilon * gaps / 2 <= log_delta):
            return k
    return -1


def _exponential_mechanism(
    sorted_models: np.ndarray, log_volumes: np.ndarray, depth: int, epsilon: float, rng: np.random.Generator
) -> np.ndarray:
    """A depth of at least ``depth`` by e^(epsilon depth / 2) and the volume of its shell, then a
    point of the shell.
    """
    depths = np.arange(depth, len(log_volumes) + 1)
    outer, inner = log_volumes[depths - 1], np.append(log_volumes[depths[1:] - 1], -math.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_shells = outer + np.log1p(-np.exp(inner - outer))
    scores = np.where(np.isfinite(log_shells), log_shells + epsilon * depths / 2, -math.inf)
    chosen = depths[np.argmax(scores + rng.gumbel(size=len(depths)))]
    low, high = sorted_models[chosen - 1], sorted_models[-chosen]
    if chosen == depths[-1]:
        return rng.uniform(low, high)
    while True:  # the next box is a part of this one: draw until outside of it
        points = rng.uniform(low, high, size=(256, len(low)))
        outside = ((points < sorted_models[chosen]) | (points > sorted_models[-chosen - 1])).any(axis=1)
        if outside.any():
            return points[outside][0]

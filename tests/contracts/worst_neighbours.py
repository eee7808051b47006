"""Neighbouring data sets on which a moments fit loses as much as it claims."""

from __future__ import annotations

import warnings
from functools import lru_cache

import numpy as np
from sklearn.base import clone

from discreet.errors import PrivacyLeakWarning

ROWS, COLUMNS = 100_000, 4


@lru_cache
def background(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows inside [-1, 1] that make the first look precise, so that the second query is much the
    same each time.
    """
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(0.05, 0.25, size=(ROWS, COLUMNS)), -1, 1)
    return X, np.clip(X @ np.full(COLUMNS, 0.2) + rng.normal(0, 0.2, size=ROWS), -1, 1)


def row_on_the_clip(estimator, sign: float) -> tuple[np.ndarray, float]:
    """A row that fills its bound: x at the clipping radius, y beyond the clip. Found by a pilot
    fit.
    """
    X, y = background()
    pilot = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        pilot.fit(X, y)
    moments = pilot.moments_
    radius = moments.weight[0] / np.sqrt(0.5)
    u = sign * radius / np.sqrt(COLUMNS)
    return np.clip(moments.offset[1:-1] + moments.width[1:-1] * u, -1, 1), 1.0


def replaced(estimator):
    """D and D' that differ in one row; the two rows are opposite in x and equal in y, so nothing
    cancels.
    """
    X, y = background()
    pair = []
    for sign in (1.0, -1.0):
        X_new, y_new = X.copy(), y.copy()
        X_new[17], y_new[17] = row_on_the_clip(estimator, sign)
        pair.append((X_new, y_new))
    return tuple(pair)


def added(estimator):
    """D has one row more than D'."""
    X, y = background()
    x_new, y_new = row_on_the_clip(estimator, 1.0)
    return (np.vstack([X, x_new]), np.append(y, y_new)), (X, y)


def worst_pair(estimator):
    return replaced(estimator) if estimator.neighbours == "replace_one" else added(estimator)

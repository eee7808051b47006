"""What needs no privacy: the fit on the private rows, the fit on the public rows alone, and the
constant.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.peers.gradient_descent import mean_of
from benchmarks.peers.setting import Rows

NEWTON_STEPS = 50
NON_PRIVATE_PENALTY = 1e-3  # for separable classes and levels that no row has
PUBLIC_PENALTIES = (0.01, 0.1, 1.0, 10.0)  # on standardised features
FOLDS = 5


def fit(family: str, rows: Rows, penalty: float) -> np.ndarray:
    """Penalised maximum likelihood by Newton's method with halved steps; the intercept is not
    penalised.
    """
    offset = _offset(rows)
    penalties = np.append(np.full(rows.n_columns - 1, penalty), 1e-9)
    weights = np.zeros(rows.n_columns)
    value = _value(family, rows, weights, penalties)
    for _ in range(NEWTON_STEPS):
        mean = mean_of(family, rows.X @ weights + offset)
        curvature = {"linear": np.ones_like(mean), "logistic": mean * (1 - mean), "poisson": mean}[family]
        gradient = rows.X.T @ (mean - rows.y) + penalties * weights
        hessian = (rows.X * curvature[:, None]).T @ rows.X + np.diag(penalties + 1e-9)
        step, size = np.linalg.solve(hessian, gradient), 1.0
        while size > 1e-4 and _value(family, rows, weights - size * step, penalties) > value:
            size /= 2
        weights = weights - size * step
        previous, value = value, _value(family, rows, weights, penalties)
        if previous - value <= 1e-9 * len(rows.y):
            break
    return weights


def fit_public(family: str, rows: Rows) -> np.ndarray:
    """The fit on public rows, with the penalty that cross-validation among them prefers: free, and
    what a user does.
    """
    fold = np.arange(len(rows.y)) % FOLDS

    def held_out(penalty: float) -> float:
        total = 0.0
        for left_out in range(FOLDS):
            weights = fit(family, _subset(rows, fold != left_out), penalty)
            total += _value(family, _subset(rows, fold == left_out), weights, np.zeros(rows.n_columns))
        return total

    return fit(family, rows, min(PUBLIC_PENALTIES, key=held_out))


def _subset(rows: Rows, chosen: np.ndarray) -> Rows:
    offset = None if rows.offset is None else rows.offset[chosen]
    return replace(rows, X=rows.X[chosen], y=rows.y[chosen], offset=offset)


def _offset(rows: Rows) -> np.ndarray:
    return np.zeros(len(rows.y)) if rows.offset is None else rows.offset


def constant(family: str, rows: Rows) -> np.ndarray:
    """The best intercept alone, without privacy."""
    ones = Rows(rows.X[:, -1:], rows.y, rows.radius, rows.y_bound, rows.offset)
    return np.append(np.zeros(rows.n_columns - 1), fit(family, ones, 0.0))


def _value(family: str, rows: Rows, weights: np.ndarray, penalties: np.ndarray) -> float:
    predictor = rows.X @ weights + _offset(rows)
    if family == "linear":
        loss = ((predictor - rows.y) ** 2 / 2).sum()
    elif family == "logistic":
        loss = (np.logaddexp(0, predictor) - rows.y * predictor).sum()
    else:
        loss = (mean_of(family, predictor) - rows.y * predictor).sum()
    return float(loss + (penalties * weights**2).sum() / 2)

"""COST's simulated logistic models: x uniform in (-1, 1), coefficients on the unit sphere, no
intercept.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy.special import expit

from discreet import GuaranteeError

# The paper's steps and their length, and how many ours takes.
STEPS, STEP = 10, 1.0
# So much epsilon that the noise does not show: the same solver without privacy.
FREE = 1e6


def rows(n: int, d: int, s: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, labels, coefficients, of which the first s are not 0."""
    rng = np.random.default_rng(seed)
    X = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 4096):  # in pieces, so that no second table is ever in memory
        rng.random(out=X[start : start + 4096], dtype=np.float32)
        X[start : start + 4096] *= 2
        X[start : start + 4096] -= 1
    beta = np.zeros(d)
    direction = rng.standard_normal(s)
    beta[:s] = direction / np.linalg.norm(direction)
    chance = expit(X[:, :s].astype(float) @ beta[:s])
    return X, (rng.random(n) < chance).astype(int), beta


def fitted(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """The fitted model; None where its printed noise is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(X, y)
        except GuaranteeError:
            return None


def squared_error(coef: np.ndarray, beta: np.ndarray) -> float:
    return float(np.sum((coef - beta) ** 2))


def sparse_error(columns: np.ndarray, values: np.ndarray, beta: np.ndarray) -> float:
    """The same, of the columns that an iterate keeps."""
    return float(beta @ beta + np.sum((values - beta[columns]) ** 2 - beta[columns] ** 2))


def after(path: Any, step: int) -> Any:
    """The iterate after this many steps, or the last one."""
    return path[min(step, len(path)) - 1]


NAN = math.nan

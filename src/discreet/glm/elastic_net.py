"""The minimum of a quadratic with an L1 penalty: lasso and elastic net from
moments, without rows.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The largest number of coordinate descent sweeps, and the tolerance relative to the loss.
_SWEEPS, _TOLERANCE = 20_000, 1e-10


def elastic_net(gram: Floats, moment: Floats, l1: Floats) -> Floats:
    """The minimiser c of c^T gram c / 2 - moment^T c + sum of l1 |c|; ``gram``
    must be positive definite.

    Coefficients with l1 = 0 (an intercept) are eliminated first. The rest is a lasso on
    synthetic rows, as many as coefficients, with X^T X = gram and X^T y = moment, each
    column in units of its l1.
    """
    held, free = l1 > 0, l1 <= 0
    pull = np.linalg.lstsq(gram[np.ix_(free, free)], gram[np.ix_(free, held)], rcond=None)[0]
    alone = np.linalg.lstsq(gram[np.ix_(free, free)], moment[free], rcond=None)[0]
    inner = gram[np.ix_(held, held)] - gram[np.ix_(held, free)] @ pull
    right = moment[held] - gram[np.ix_(held, free)] @ alone
    coefficients = np.zeros(len(l1))
    coefficients[held] = _lasso(inner / np.outer(l1[held], l1[held]), right / l1[held]) / l1[held]
    coefficients[free] = alone - pull @ coefficients[held]
    return coefficients


def _lasso(gram: Floats, moment: Floats) -> Floats:
    """The same with every l1 = 1."""
    if len(gram) == 0:
        return np.zeros(0)
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    roots = np.sqrt(np.maximum(values, 1e-14 * max(float(values[-1]), 1e-300)))
    rows, labels = roots[:, np.newaxis] * vectors.T, vectors.T @ moment / roots
    solver = Lasso(alpha=1 / len(rows), fit_intercept=False, max_iter=_SWEEPS, tol=_TOLERANCE)
    with warnings.catch_warnings():  # rounding may prevent convergence to the last digits
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(solver.fit(rows, labels).coef_, dtype=np.float64)

"""The minimiser of a logistic loss with an L2 penalty and a linear term, for many linear terms at
once.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

MOST_STEPS = 40
HALVINGS = 12
ROWS_IN_HESSIAN = 4_000  # steps need the right gradient, but only about the right curvature


def logistic_loss(margins: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sum over the rows (first axis) of log(1 + e^m) - y m."""
    return (np.logaddexp(0, margins) - y[:, None] * margins).sum(axis=0)


def minimise(X: np.ndarray, y: np.ndarray, penalty: float, linear: np.ndarray) -> np.ndarray:
    """Minimise sum log-loss + penalty |w|^2 / 2 + <linear_k, w> for each line k of ``linear``;
    Newton with halving.
    """
    stride = max(1, len(X) // ROWS_IN_HESSIAN)
    sample = np.ascontiguousarray(X[::stride])
    scale = len(X) / len(sample)
    weights = np.zeros_like(linear)
    margins = X @ weights.T
    value = _value(margins, y, weights, penalty, linear)
    active = np.arange(len(linear))
    for _ in range(MOST_STEPS):
        probability = expit(margins)
        gradient = (X.T @ (probability - y[:, None])).T + penalty * weights[active] + linear[active]
        steps = np.empty_like(gradient)
        for i, p in enumerate(probability[::stride].T):
            hessian = scale * (sample * (p * (1 - p))[:, None]).T @ sample
            hessian[np.diag_indices_from(hessian)] += penalty + 1e-6 * scale
            steps[i] = np.linalg.solve(hessian, gradient[i])
        decrement = (steps * gradient).sum(axis=1)
        size = np.ones(len(active))
        for _ in range(HALVINGS):
            trial = weights[active] - size[:, None] * steps
            trial_margins = X @ trial.T
            trial_value = _value(trial_margins, y, trial, penalty, linear[active])
            worse = trial_value > value + 1e-12 * np.abs(value)
            if not worse.any():
                break
            size[worse] /= 2
        moved = ~worse
        weights[active[moved]] = trial[moved]
        # A decrement below 1e-6 n is an error in the mean log-loss of less than 1e-6.
        going = moved & (decrement > 1e-6 * len(X))
        if not going.any():
            break
        active, margins, value = active[going], trial_margins[:, going], trial_value[going]
    return weights


def _value(margins: np.ndarray, y: np.ndarray, weights: np.ndarray, penalty: float, linear: np.ndarray) -> np.ndarray:
    return logistic_loss(margins, y) + penalty / 2 * (weights**2).sum(axis=1) + (weights * linear).sum(axis=1)

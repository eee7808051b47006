"""Full-batch gradient descent whose clip norms come from noisy histograms (the structure of Liu et
al. 2023).

"Near optimal private and robust linear regression" has, by its abstract, a full-batch descent and
adaptive clipping. Its constants, its estimators of norms and of residuals and its schedule could
not be read here: those below are plain choices with exact Gaussian composition, so a line in the
table is about the structure, not about the paper's numbers.

Privacy: one histogram of row norms and one of residuals a step (a replaced row moves two counts by
1: sqrt 2), and the clipped gradients (a row's part is at most ``long * far``, so a replaced one
moves the sum by twice that); mu^2 adds up.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.privacy import GDP

_BINS = 2.0 ** np.arange(-20, 8)
_LOOKS = 0.1  # of mu^2, for all histograms


def clipped_descent(
    X: np.ndarray, y: np.ndarray, epsilon: float, delta: float, steps: int, rng: np.random.Generator
) -> np.ndarray:
    """Coefficients; columns of X and y should be of spread 1 or less. The step is 1 over the
    largest eigenvalue.
    """
    mu = GDP.from_epsilon(epsilon, delta).mu
    look, step_mu = mu * math.sqrt(_LOOKS / (steps + 1)), mu * math.sqrt((1 - _LOOKS) / steps)
    norms = np.linalg.norm(X, axis=1)
    longest = _quantile(norms, 0.99, look, rng)
    short = X * np.minimum(1, longest / np.maximum(norms, 1e-300))[:, np.newaxis]
    # A kind choice: the largest eigenvalue is taken from the rows themselves.
    length = 1 / np.linalg.eigvalsh(short.T @ short / len(y))[-1]
    beta = np.zeros(X.shape[1])
    for _ in range(steps):
        residual = X @ beta - y
        far = _quantile(np.abs(residual), 0.95, look, rng)
        gradient = short.T @ np.clip(residual, -far, far)
        gradient += 2 * longest * far / step_mu * rng.normal(size=len(beta))
        beta = beta - length * gradient / len(y)
    return beta


def _quantile(values: np.ndarray, level: float, mu: float, rng: np.random.Generator) -> float:
    """The upper end of the bin that holds this quantile, of counts with Gaussian noise."""
    counts = np.histogram(values, bins=np.concatenate([[0.0], _BINS, [np.inf]]))[0]
    noisy = np.maximum(counts + math.sqrt(2) / mu * rng.normal(size=len(counts)), 0)
    place = int(np.searchsorted(np.cumsum(noisy), level * noisy.sum()))
    return float(_BINS[min(place, len(_BINS) - 1)])

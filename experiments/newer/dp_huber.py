"""DP Huber regression and its sparse form (Chang, Yang, Zha and Zhou 2026, arXiv 2603.07505).

After the authors' published code of their Algorithms 1 to 3, written anew. Dense: gradient descent
on the Huber loss of width tau, every row shortened to length B in the gradient (but not in the
residual), and Gaussian noise. A replaced row moves the sum of gradients by at most 2 B tau, so T
steps with noise 2 B tau sqrt(T) / mu are mu-GDP. Sparse: the same step on rows whose cells are
within B, then peeling with Laplace noise of the published scale 2 lambda sqrt(5 s log(1/delta_1)) /
epsilon_1, where lambda = 2 eta B tau / n, epsilon_1 = epsilon / T and delta_1 = delta / T. That this
gives (epsilon, delta) is the paper's claim; only the dense guarantee is proved here. How the paper
chooses tau, B, T and the step eta is in notebooks that could not be read: callers say theirs.
"""

from __future__ import annotations

import math

import numpy as np


def dp_huber(
    X: np.ndarray, y: np.ndarray, mu: float, width: float, clip: float, steps: int, rng: np.random.Generator
) -> np.ndarray:
    """Coefficients; the step is 1 over the largest eigenvalue of the rows, a kind choice."""
    short = X * np.minimum(1, clip / np.maximum(np.linalg.norm(X, axis=1), 1e-300))[:, np.newaxis]
    length = 1 / np.linalg.eigvalsh(short.T @ short / len(y))[-1]
    noise = 2 * clip * width * math.sqrt(steps) / mu
    beta = np.zeros(X.shape[1])
    for _ in range(steps):
        gradient = short.T @ np.clip(y - X @ beta, -width, width) + noise * rng.normal(size=len(beta))
        beta = beta + length * gradient / len(y)
    return beta


def sparse_dp_huber(
    X: np.ndarray,
    y: np.ndarray,
    s: int,
    *,
    epsilon: float,
    delta: float,
    width: float,
    clip: float,
    steps: int,
    length: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """The columns that are kept after the last step."""
    short = X * np.minimum(1, clip / np.maximum(np.abs(X).max(axis=1), 1e-300))[:, np.newaxis]
    moved = 2 * length * clip * width / len(y)
    scale = 2 * moved * math.sqrt(5 * s * math.log(steps / delta)) / (epsilon / steps)
    beta, kept = np.zeros(X.shape[1]), np.zeros(0, dtype=int)
    for _ in range(steps):
        beta = beta + length / len(y) * (short.T @ np.clip(y - X @ beta, -width, width))
        kept = _peeled(np.abs(beta), s, scale, rng)
        beta = np.where(np.isin(np.arange(len(beta)), kept), beta + rng.laplace(0, scale, len(beta)), 0.0)
    return kept


def _peeled(sizes: np.ndarray, s: int, scale: float, rng: np.random.Generator) -> np.ndarray:
    """The largest with fresh noise, s times."""
    left, kept = sizes.copy(), []
    for _ in range(s):
        kept.append(int(np.argmax(left + rng.laplace(0, scale, len(left)))))
        left[kept[-1]] = -np.inf
    return np.array(kept)

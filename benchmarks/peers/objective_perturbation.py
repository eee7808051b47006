"""Objective perturbation for logistic regression, after Kifer, Smith and Thakurta 2012 and Redberg
et al. 2023.

Release the exact minimiser of sum_i loss_i(w) + penalty |w|^2 / 2 + <b, w>, with b ~ N(0, s^2 I).
With |x| <= r a row's gradient has norm at most r and lies along x, and its curvature is at most
r^2 / 4. So the privacy loss is at most

    log(1 + r^2 / (4 penalty)) + (r / s) |Z| + r^2 / (2 s^2),  Z ~ N(0, 1)      (one row added or removed);

replacing a row subtracts one gradient and adds another, along two directions of correlation rho: |Z| becomes
|Z_1| + |Z_2|, r^2 becomes 2 r^2 (1 + |rho|), and the worst rho counts; the determinants' ratio stays below the first
term, as both rows are added to the same rest. The failure probability is E[(1 - e^(epsilon - loss))_+].
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from benchmarks.peers.logistic_newton import minimise
from benchmarks.peers.setting import Privacy, Rows
from scipy.special import ndtr

# The share of epsilon that the determinant's term takes. The rule is one half; the oracle tries
# all.
RULE = 0.5
SHARES = (0.7, 0.5, 0.3, 0.1, 0.03)
RADIUS_SHARES = (1.0, 0.5)
CORRELATIONS = np.linspace(0, 1, 11)


def objective_perturbation(
    rows: Rows, privacy: Privacy, draws: int, rng: np.random.Generator, share: float = RULE, radius_share: float = 1.0
) -> np.ndarray:
    """Weights, one line per noise draw; the penalty is such that log(1 + r^2 / (4
    penalty)) = share * epsilon.
    """
    clipped = rows.clipped(radius_share * rows.radius)
    penalty = clipped.radius**2 / 4 / math.expm1(share * privacy.epsilon)
    ratio = gradient_to_noise((1 - share) * privacy.epsilon, privacy.delta, privacy.neighbours)
    noise = clipped.radius / ratio * rng.standard_normal((draws, rows.n_columns))
    return minimise(clipped.X, clipped.y, penalty, noise)


@lru_cache
def gradient_to_noise(epsilon: float, delta: float, neighbours: str) -> float:
    """The largest r / s within the budget that is left after the determinant's term."""
    low, high = 1e-6, 50.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if failure(epsilon, middle, neighbours) <= delta else (low, middle)
    return low


def failure(epsilon: float, ratio: float, neighbours: str) -> float:
    """E[(1 - e^(epsilon - loss))_+] without the determinant's term, for the worst pair of rows."""
    if neighbours == "add_or_remove_one":
        start = max(0.0, epsilon / ratio - ratio / 2)
        return 2 * float(ndtr(-start) - math.exp(epsilon) * ndtr(-start - ratio))
    return max(_failure_of_pair(epsilon, ratio, float(rho)) for rho in CORRELATIONS)


def _failure_of_pair(epsilon: float, ratio: float, rho: float) -> float:
    """|Z_1| + |Z_2| is the larger of |Z_1 + Z_2| and |Z_1 - Z_2|, independent with variances 2 (1
    +- rho).
    """
    fixed = ratio**2 * (1 + rho)
    start = max(0.0, (epsilon - fixed) / ratio)
    stds = np.sqrt(np.maximum(2 * np.array([1 + rho, 1 - rho]), 1e-12))
    # E[(1 - e^(epsilon - fixed - ratio M))_+], by parts: the integral of its derivative times
    # P(M > m).
    m = start + np.linspace(0, 12 * stds[0] + 40 / max(ratio, 1), 4_001)
    tail = 1 - (1 - 2 * ndtr(-m / stds[0])) * (1 - 2 * ndtr(-m / stds[1]))
    edge = max(0.0, 1 - math.exp(min(0.0, epsilon - fixed - ratio * start)))
    slope = ratio * np.exp(epsilon - fixed - ratio * m)
    return float(edge * tail[0] + np.trapezoid(slope * tail, m))

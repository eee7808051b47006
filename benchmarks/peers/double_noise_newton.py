"""Double-noise Newton, written from Ganesh, Haghifam, Steinke and Thakurta 2023, "Faster
differentially private convex optimization via second-order methods", for logistic regression.

Each step releases a noisy gradient g, then the direction (H + floor)^-1 g with noise of its own,
where H is the quadratic upper bound of the loss (weights tanh(m/2) / (2m) <= 1/4). One row more
adds w x x^T to H, so by Sherman-Morrison the direction moves by at most |g| b / (floor^2 + floor
b), b = r^2 / 4; the corrections of two rows are both between 0 and that, so replacing a row costs
the same. The gradient moves by r, or 2 r.
"""

from __future__ import annotations

import math

import numpy as np
from benchmarks.peers.setting import Privacy, Rows
from scipy.special import expit

# One choice for all sets, by their test losses: in the peer's favour.
STEPS = 10
GRADIENT_SHARE = 0.6  # of mu^2
FLOOR_FACTOR = 1.5


def double_noise_newton(rows: Rows, privacy: Privacy, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Weights, one line per noise draw."""
    clipped = rows.clipped()
    X, radius, n_columns = clipped.X.astype(np.float32), clipped.radius, rows.n_columns
    gradient_noise = privacy.rows_moved * radius * math.sqrt(STEPS / GRADIENT_SHARE) / privacy.mu
    direction_noise = math.sqrt(STEPS / (1 - GRADIENT_SHARE)) / privacy.mu
    curvature = radius**2 / 4
    # With typical an eigenvalue of H, the floor costs floor / typical of a step, and the noise on
    # the direction is sqrt(d) curvature noise typical / floor^2 of it: equal where floor^3 is this.
    # The trace is at most n curvature.
    typical = len(X) * curvature / n_columns
    floor = FLOOR_FACTOR * (math.sqrt(n_columns) * curvature * direction_noise * typical**2) ** (1 / 3)

    weights = np.zeros((draws, n_columns))
    for _ in range(STEPS):
        margins = X @ weights.T.astype(np.float32)
        residuals = expit(margins) - clipped.y[:, None].astype(np.float32)
        gradients = (X.T @ residuals).T + gradient_noise * rng.standard_normal((draws, n_columns))
        half = np.maximum(np.abs(margins), 1e-4) / 2
        upper = np.tanh(half) / (4 * half)
        for draw in range(draws):
            hessian = (X * upper[:, draw, None]).T @ X + floor * np.eye(n_columns)
            step = np.linalg.solve(hessian, gradients[draw])
            moved = np.linalg.norm(gradients[draw]) * curvature / (floor**2 + floor * curvature)
            weights[draw] -= step + moved * direction_noise * rng.standard_normal(n_columns)
    return weights

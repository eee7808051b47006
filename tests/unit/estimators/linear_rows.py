"""A small table for linear models, and what is declared about it."""

from __future__ import annotations

import numpy as np

PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
FREE = {"epsilon": 1e9, "delta": 1e-6}  # as good as no noise
BOUNDS = {"bounds_X": (-2, 2), "bounds_y": (-4, 4)}


def rows(n: int = 3000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(0.2, 0.6, (n, 3)), -2, 2)
    y = np.clip(0.7 + X @ np.array([0.8, -0.5, 0.1]) + 0.4 * rng.normal(size=n), -4, 4)
    return X, y

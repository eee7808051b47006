"""What every peer is given: rows in the same units, and a budget with its neighbour relation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.privacy import gaussian_mu


@dataclass(frozen=True)
class Privacy:
    """A budget, and how data sets that differ in one person look: one row replaced, or one more row
    (n public).
    """

    epsilon: float
    delta: float
    neighbours: str

    def __post_init__(self) -> None:
        if self.neighbours not in ("replace_one", "add_or_remove_one"):
            raise ValueError(f"neighbours must be add_or_remove_one or replace_one, got {self.neighbours!r}")

    @cached_property
    def mu(self) -> float:
        """The Gaussian DP parameter: n releases of sensitivity 1 and noise s cost sqrt(n) / s."""
        return gaussian_mu(self.epsilon, self.delta)

    @property
    def rows_moved(self) -> int:
        """How many terms of a sum change, each by its full norm at most."""
        return 2 if self.neighbours == "replace_one" else 1

    @property
    def squares_moved(self) -> float:
        """The same for x x^T: |xx^T - zz^T| <= sqrt(2) r^2, as <xx^T, zz^T> >= 0."""
        return math.sqrt(self.rows_moved)


@dataclass(frozen=True)
class Rows:
    """Private rows in the units that all peers share; the last column of X is 1.

    radius and y_bound are declared, or come from public rows: larger rows are clipped by the method
    that needs it. offset: added to the linear predictor (the logarithm of an exposure).
    """

    X: np.ndarray
    y: np.ndarray
    radius: float
    y_bound: float
    offset: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        return self.X.shape[1]

    def clipped(self, radius: float | None = None) -> Rows:
        """Rows shortened to the radius, targets moved into [-y_bound, y_bound]."""
        radius = self.radius if radius is None else radius
        norms = np.linalg.norm(self.X, axis=1, keepdims=True)
        X = self.X * np.minimum(1, radius / norms)
        return replace(self, X=X, y=np.clip(self.y, -self.y_bound, self.y_bound), radius=radius)


def symmetric_noise(draws: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Standard Gaussian upper triangles, mirrored."""
    upper = np.triu(rng.standard_normal((draws, size, size)))
    return upper + np.swapaxes(np.triu(upper, 1), 1, 2)

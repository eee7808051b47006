"""Estimators with one mistake each: variants of a correct iterative one, and reads past the
curator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from discreet import LinearRegression
from discreet.curator import Curator
from discreet.domain import Domain, Encoder, Numeric
from discreet.engines import MemoryEngine
from discreet.privacy import GDP, Budget


@dataclass(frozen=True)
class Gradient:
    """x times the clipped residual at a released coefficient; the bounds are the query's, the clip
    is the curator's.
    """

    coef: tuple[float, ...]
    label: str = "gradient"
    geometry: str = "free"
    right_norm: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.coef), 1

    @property
    def left_norm(self) -> float:
        return math.sqrt(len(self.coef))

    def factors(self, block: Any) -> tuple[np.ndarray, np.ndarray]:
        x = np.empty((len(self.coef), block.records))
        block.write_x(x)
        fitted = np.zeros(block.records)
        for coef, column in zip(self.coef, x, strict=True):  # entry by entry: BLAS rounds by the block's size
            fitted += coef * column
        return x, 3.0 * (fitted - block.y)[np.newaxis]


class NoisyGradientDescent(RegressorMixin, BaseEstimator):
    """A few steps of least squares on noisy gradients."""

    steps = 4

    def __init__(self, *, epsilon, delta, bounds_X=None, bounds_y=None, neighbours="replace_one"):
        self.epsilon = epsilon
        self.delta = delta
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.neighbours = neighbours

    def fit(self, X, y):
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        names = [f"x{place}" for place in range(X.shape[1])]
        encoder = Encoder(Domain.from_bounds(names, self.bounds_X), Numeric("y", *self.bounds_y))
        curator = Curator(MemoryEngine(encoder.encode, X, y, workers=1), neighbours=self.neighbours)
        self.coef_ = np.zeros(X.shape[1])
        self._descend(curator, X, y)
        self.privacy_ = curator.guarantee
        return self

    def _cost(self) -> GDP:
        return Budget.of(self.epsilon, self.delta).split([1.0] * self.steps)[0]

    def _descend(self, curator, X, y):
        for _ in range(self.steps):
            self._step(curator)

    def _step(self, curator):
        answer = curator.sum(Gradient(tuple(map(float, self.coef_))), self._cost())
        self.coef_ = np.clip(self.coef_ - answer.value[:, 0] / 1000, -1, 1)


class OneStepMore(NoisyGradientDescent):
    """PMT's loops run t = 0..T with noise for T releases."""

    def _descend(self, curator, X, y):
        super()._descend(curator, X, y)
        self._step(curator)


class OneStepMoreUnpaid(OneStepMore):
    """The same, and the guarantee omits the extra release."""

    def _descend(self, curator, X, y):
        super()._descend(curator, X, y)
        curator._releases.pop()


class NoCompositionOverSteps(NoisyGradientDescent):
    """Every step gets the whole budget: the factor sqrt(T) is missing."""

    def _cost(self) -> GDP:
        return GDP(Budget.of(self.epsilon, self.delta).mu)


class StopsWhenConverged(NoisyGradientDescent):
    """Looks at the exact gradient to see whether another step is worth its price."""

    def _descend(self, curator, X, y):
        for _ in range(self.steps):
            self._step(curator)
            if np.abs(X.T @ (X @ self.coef_ - np.clip(y, -1, 1))).max() < 0.5:
                break


class UnclippedResidual(NoisyGradientDescent):
    """Clips for the gradient, then chooses the step size by the rows as they came."""

    def _descend(self, curator, X, y):
        super()._descend(curator, X, y)
        self.coef_ = self.coef_ / max(1.0, float(np.abs(X).max()))


class DividesByPrivateCount(NoisyGradientDescent):
    """A mean gradient, although the number of rows is private."""

    def _descend(self, curator, X, y):
        super()._descend(curator, X, y)
        self.coef_ = self.coef_ * 1000 / len(y)


class RadiusFromTheData(LinearRegression):
    def fit(self, X, y, groups=None):
        self.bounds_X = None
        self.data_norm = float(np.linalg.norm(X, axis=1).max()) + 1e-6
        return super().fit(X, y)


class ScaledByPrivateData(LinearRegression):
    def fit(self, X, y, groups=None):
        return super().fit(X / (np.abs(X).max(axis=0) + 1e-6), y)


class DividedByPrivateCount(LinearRegression):
    def fit(self, X, y, groups=None):
        super().fit(X, y)
        self.coef_ = self.coef_ / len(y)
        return self


class StopsWhenTheDataSay(LinearRegression):
    """A second release only where the data ask for it."""

    def fit(self, X, y, groups=None):
        super().fit(X, y)
        if np.max(X) > 0.05:
            super().fit(X, y)
        return self


class KeepsARow(LinearRegression):
    def fit(self, X, y, groups=None):
        super().fit(X, y)
        self.largest_ = float(np.abs(X).max() + np.abs(y).max())
        return self

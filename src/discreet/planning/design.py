"""The people that a forecast assumes: independent standard normal features with equal effects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from discreet.glm import Family, Link
from discreet.planning.kinds import DECLARED, Floats, Kind, kind_of
from discreet.planning.remedy import NoForecast, Remedy


@dataclass(frozen=True)
class Design:
    """d features x ~ N(0, 1), a predictor of standard deviation ``effect``, labels of the family.

    Linear labels have the variance 1, so ``effect``^2 is R^2. ``rate`` is the share of binary
    labels that are 1, or the mean of counts.
    """

    family: str
    d: int
    effect: float
    rate: float
    # The part of rows without missing values.
    complete: ClassVar[float] = 1.0

    @classmethod
    def of(cls, family: str, d: int, effect: float | None = None, rate: float | None = None) -> Design:
        kind = kind_of(family)
        if d < 1:
            raise NoForecast(f"d must be at least 1, got {d}", Remedy("Take 1 column", {"d": 1}))
        effect = kind.usual_effect if effect is None else effect
        if not 0 < effect < kind.too_strong:
            raise NoForecast(
                f"effect must be > 0 and below {kind.too_strong:g}, got {effect}",
                Remedy("Take the usual effect", {"effect": None}),
            )
        if rate is not None and not kind.takes_rate(rate):
            raise NoForecast(
                f"rate is the share of ones (logistic) or the mean count (poisson), got {rate} for {family}",
                Remedy("Take the usual rate", {"rate": None}),
            )
        return cls(family, int(d), float(effect), kind.usual_rate if rate is None else float(rate))

    @property
    def kind(self) -> Kind:
        return kind_of(self.family)

    @property
    def size(self) -> int:
        """The number of coefficients, including the intercept."""
        return self.d + 1

    @property
    def coefficients(self) -> Floats:
        """The coefficients of (1, x); signs alternate, so that no direction is special."""
        signs = np.where(np.arange(self.d) % 2 == 0, 1.0, -1.0)
        return np.concatenate([[self.intercept], self.effect / math.sqrt(self.d) * signs])

    @property
    def intercept(self) -> float:
        """The intercept that gives labels their mean."""
        return self.kind.intercept(self.effect, self.rate)

    @property
    def model(self) -> tuple[Family, Link]:
        return self.kind.model

    @property
    def dispersion(self) -> float:
        return self.kind.dispersion(self.effect)

    @property
    def label_bounds(self) -> tuple[float, float]:
        return self.kind.label_bounds(self.rate)

    @property
    def bounds_X(self) -> tuple[float, float]:
        return -DECLARED, DECLARED

    def typical(self) -> tuple[Floats, Floats, Floats]:
        """Features, labels and predictors for expectations."""
        return typical_rows(self)

    def rows(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Simulated people: features and labels, within the declared bounds."""
        X = np.clip(rng.standard_normal((n, self.d)), -DECLARED, DECLARED)
        return X, self.labels(self.predictor(X), rng)

    def predictor(self, X: Floats) -> Floats:
        return np.asarray(self.coefficients[0] + X @ self.coefficients[1:])

    def labels(self, eta: Floats, rng: np.random.Generator) -> Floats:
        return np.clip(self.kind.drawn(eta, self.dispersion, rng), *self.label_bounds)

    def risk(self, coefficients: Floats, X: Floats) -> Floats:
        """The expected loss per row beyond the true model's, for each column
        of coefficients of (1, x).

        Squared error for linear models (in units of var(y), so it is the loss of R^2); otherwise
        the negative log-likelihood, in nats.
        """
        family, _ = self.model
        eta, other = self.predictor(X)[:, np.newaxis], coefficients[0] + X @ coefficients[1:]
        mean = family.cumulant_slope(eta)
        return np.asarray(np.mean(self.kind.loss(mean, other) - self.kind.loss(mean, eta), axis=0))

    @property
    def information(self) -> float:
        """The information of a row about a coefficient: the mean weight,
        averaged over directions.
        """
        X, _, eta = typical_rows(self)
        family, canonical = self.model
        weight = family.weight(eta, canonical)
        # The harmonic mean would be exact for each coefficient; this mean is
        # within a few per cent of it.
        return float(np.mean(weight[:, np.newaxis] * X**2)) / self.dispersion

    @property
    def plain_risk(self) -> float:
        """The excess risk of the plain fit, times the number of rows."""
        return self.size * self.dispersion * self.kind.loss_scale / 2

    @property
    def constant_risk(self) -> float:
        """The excess risk of the constant model: the most that a careful method can lose."""
        X, _, eta = typical_rows(self)
        family, canonical = self.model
        mean = float(np.mean(family.cumulant_slope(eta)))
        flat = np.concatenate([[float(canonical.predictor(mean))], np.zeros(self.d)])
        return float(self.risk(flat[:, np.newaxis], X)[0])


@lru_cache(maxsize=16)
def typical_rows(design: Design) -> tuple[Floats, Floats, Floats]:
    """Simulated rows for expectations: features, labels and predictors, the same at every call."""
    rng = np.random.default_rng(20_240)
    X, y = design.rows(4000, rng)
    return X, y, design.predictor(X)

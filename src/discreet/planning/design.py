"""The people that a forecast assumes: independent standard normal features with equal effects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.glm import Bernoulli, Family, Gaussian, Link, Poisson, link
from discreet.planning.remedy import NoForecast, Remedy

Floats = NDArray[np.float64]

FAMILIES = ("linear", "logistic", "poisson")
# Bounds are declared this many standard deviations from the middle, as by a user
# who knows the units well.
DECLARED = 4.0
# The default standard deviation of the linear predictor: R^2 of 1/2, odds ratios of about 3,
# moderate count variation.
_EFFECTS = {"linear": math.sqrt(0.5), "logistic": 1.0, "poisson": 0.5}
_MOST_COUNTS = 15.0
MODELS: dict[str, tuple[Family, Link]] = {
    "linear": (Gaussian(), link("identity")),
    "logistic": (Bernoulli(), link("logit")),
    "poisson": (Poisson(), link("log")),
}


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

    @classmethod
    def of(cls, family: str, d: int, effect: float | None = None, rate: float | None = None) -> Design:
        if family not in FAMILIES:
            raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
        if d < 1:
            raise NoForecast(f"d must be at least 1, got {d}", Remedy("Take 1 column", {"d": 1}))
        effect = _EFFECTS[family] if effect is None else effect
        if not 0 < effect < (1 if family == "linear" else 5):
            raise NoForecast(
                f"effect must be > 0 and below {1 if family == 'linear' else 5}, got {effect}",
                Remedy("Take the usual effect", {"effect": None}),
            )
        usual = {"linear": 0.0, "logistic": 0.5, "poisson": 1.0}[family]
        if rate is not None and (family == "linear" or not 0 < rate < (1 if family == "logistic" else 1000)):
            raise NoForecast(
                f"rate is the share of ones (logistic) or the mean count (poisson), got {rate} for {family}",
                Remedy("Take the usual rate", {"rate": None}),
            )
        return cls(family, int(d), float(effect), usual if rate is None else float(rate))

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
        if self.family == "poisson":
            return math.log(self.rate) - self.effect**2 / 2
        return _logistic_intercept(self.effect, self.rate) if self.family == "logistic" else 0.0

    @property
    def model(self) -> tuple[Family, Link]:
        return MODELS[self.family]

    @property
    def dispersion(self) -> float:
        return 1 - self.effect**2 if self.family == "linear" else 1.0

    @property
    def label_bounds(self) -> tuple[float, float]:
        counts = math.ceil(_MOST_COUNTS * max(self.rate, 1.0))
        return {"linear": (-DECLARED, DECLARED), "logistic": (0.0, 1.0), "poisson": (0.0, counts)}[self.family]

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
        if self.family == "linear":
            labels = eta + math.sqrt(self.dispersion) * rng.standard_normal(len(eta))
        elif self.family == "logistic":
            labels = (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.float64)
        else:
            labels = rng.poisson(np.exp(eta)).astype(np.float64)
        return np.clip(labels, *self.label_bounds)

    def risk(self, coefficients: Floats, X: Floats) -> Floats:
        """The expected loss per row beyond the true model's, for each column
        of coefficients of (1, x).

        Squared error for linear models (in units of var(y), so it is the loss of R^2); otherwise
        the negative log-likelihood, in nats.
        """
        family, _ = self.model
        eta, other = self.predictor(X)[:, np.newaxis], coefficients[0] + X @ coefficients[1:]
        if self.family == "linear":
            return np.asarray(np.mean((other - eta) ** 2, axis=0))
        mean = family.cumulant_slope(eta)
        lost = family.cumulant(other) - family.cumulant(eta) - mean * (other - eta)
        return np.asarray(np.mean(lost, axis=0))

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
    def constant_risk(self) -> float:
        """The excess risk of the constant model: the most that a careful method can lose."""
        X, _, eta = typical_rows(self)
        family, canonical = self.model
        mean = float(np.mean(family.cumulant_slope(eta)))
        flat = np.concatenate([[float(canonical.predictor(mean))], np.zeros(self.d)])
        return float(self.risk(flat[:, np.newaxis], X)[0])


@lru_cache(maxsize=64)
def _logistic_intercept(effect: float, rate: float) -> float:
    """The intercept with which the mean of 1 / (1 + exp(-intercept - effect Z))
    over normal Z is the rate.
    """
    from scipy.optimize import brentq

    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    return float(brentq(lambda a: weights @ (1 / (1 + np.exp(-a - effect * nodes))) - rate, -60.0, 60.0))


@lru_cache(maxsize=16)
def typical_rows(design: Design) -> tuple[Floats, Floats, Floats]:
    """Simulated rows for expectations: features, labels and predictors, the same at every call."""
    rng = np.random.default_rng(20_240)
    X, y = design.rows(4000, rng)
    return X, y, design.predictor(X)

"""The models that can be planned: what a forecast needs to know of each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.glm import Bernoulli, Family, Gaussian, Link, Poisson, link
from discreet.planning.remedy import NoForecast

Floats = NDArray[np.float64]

# Bounds are declared this many standard deviations from the middle, as by a user
# who knows the units well.
DECLARED = 4.0
# Declared counts end at this multiple of their mean.
_MOST_COUNTS = 15.0
# A first look hardly determines the mean of fewer counts, as mu n. With fewer labels of the rarer
# class the start of a logistic model is far off; as mu n times the variance of labels.
_COUNTED, _OF_TWO_CLASSES = 1000.0, 500.0


class Kind(ABC):
    """A model: the labels that it assumes, the units of its losses, and its estimator."""

    name: ClassVar[str]
    title: ClassVar[str]
    model: ClassVar[tuple[Family, Link]]
    # The model of ``discreet.local`` with this mean.
    local_model: ClassVar[str]
    # The default standard deviation of the linear predictor: R^2 of 1/2, odds ratios of about 3,
    # moderate count variation; and the smallest one that is refused.
    usual_effect: ClassVar[float]
    too_strong: ClassVar[float] = 5.0
    usual_rate: ClassVar[float]
    least_rate: ClassVar[float] = 0.0
    too_high_rate: ClassVar[float]
    # Losses are this many times the negative log-likelihood of the canonical parameter.
    loss_scale: ClassVar[float] = 1.0
    loss_unit: ClassVar[str] = "nats per row"
    # Whether the columns of several parties can be joined for it.
    joins_parties: ClassVar[bool] = False
    # Whether labels vary about the model by an amount of their own, so that a loss is a part of
    # their variance.
    has_r2: ClassVar[bool] = False
    # Whether labels are the names of two classes.
    two_classes: ClassVar[bool] = False

    @abstractmethod
    def intercept(self, effect: float, rate: float) -> float:
        """The intercept that gives labels their mean."""

    @abstractmethod
    def label_bounds(self, rate: float) -> tuple[float, float]:
        """What a user declares."""

    @abstractmethod
    def drawn(self, eta: Floats, dispersion: float, rng: np.random.Generator) -> Floats:
        """Labels for these linear predictors."""

    @abstractmethod
    def largest_curvature(self, intercept: float, spread: float) -> float:
        """The largest eigenvalue of the information of a row, where the predictor's variance is at
        most ``spread``.
        """

    @abstractmethod
    def estimator(self) -> type[Any]:
        """The class that a user would fit."""

    def dispersion(self, effect: float) -> float:
        return 1.0

    def is_hidden(self, mu: float, n: int, rate: float) -> bool:
        """Whether a first look tells too little of the labels, so that errors have heavy tails."""
        return False

    def takes_rate(self, rate: float) -> bool:
        return self.least_rate < rate < self.too_high_rate

    def loss(self, y: Floats, eta: Floats) -> Floats:
        """The loss of each row, up to a constant of the labels."""
        return np.asarray(self.loss_scale * (self.model[0].cumulant(eta) - y * eta))

    # Of a public sample:

    @abstractmethod
    def check(self, y: Floats) -> None:
        """Refuses labels that are none of this model."""

    def whole(self, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Label bounds as a fit takes them."""
        return ends

    def units(self, y: Floats) -> tuple[float, float]:
        """The middle and the unit of labels."""
        return 0.0, 1.0

    def rate(self, y: Floats) -> float:
        return float(y.mean())

    def seen_dispersion(self, residuals: Floats, size: int) -> float:
        return 1.0

    def closeness(self, X: Floats, eta: Floats) -> Floats:
        """Rows with similar values have similar residuals: a number that orders rows.

        Labels of two classes and counts depend on the predictor.
        """
        return eta

    @abstractmethod
    def moved(self, y: Floats, other: Floats, mine: Floats, rng: np.random.Generator) -> Floats:
        """The label of a row with mean ``mine`` that has the residual of one with the label y and
        the mean ``other``: y where the means are equal.
        """


class Linear(Kind):
    """Labels of variance 1, so ``effect``^2 is R^2."""

    name, title = "linear", "linear regression"
    model = Gaussian(), link("identity")
    local_model = "identity"
    usual_effect, too_strong = math.sqrt(0.5), 1.0
    usual_rate, too_high_rate = 0.0, 0.0
    loss_scale, loss_unit = 2.0, "of the variance of y"
    joins_parties = has_r2 = True

    def intercept(self, effect: float, rate: float) -> float:
        return 0.0

    def label_bounds(self, rate: float) -> tuple[float, float]:
        return -DECLARED, DECLARED

    def drawn(self, eta: Floats, dispersion: float, rng: np.random.Generator) -> Floats:
        return np.asarray(eta + math.sqrt(dispersion) * rng.standard_normal(len(eta)))

    def largest_curvature(self, intercept: float, spread: float) -> float:
        return 1.0

    def estimator(self) -> type[Any]:
        from discreet.estimators import LinearRegression

        return LinearRegression

    def dispersion(self, effect: float) -> float:
        return 1 - effect**2

    def check(self, y: Floats) -> None:
        pass

    def units(self, y: Floats) -> tuple[float, float]:
        return float(y.mean()), float(y.std())

    def rate(self, y: Floats) -> float:
        return 0.0

    def seen_dispersion(self, residuals: Floats, size: int) -> float:
        return max(float(np.sum(residuals**2)) / (len(residuals) - size), 1e-12)

    def closeness(self, X: Floats, eta: Floats) -> Floats:
        """Labels do not depend on the predictor. How far errors of long rows differ from others
        decides the norms of scores.
        """
        return np.asarray(np.sum(X**2, axis=1))

    def moved(self, y: Floats, other: Floats, mine: Floats, rng: np.random.Generator) -> Floats:
        return mine + y - other


class Logistic(Kind):
    """Labels 0 and 1; ``rate`` is the share of ones."""

    name, title = "logistic", "logistic regression"
    model = Bernoulli(), link("logit")
    local_model = "logistic"
    usual_effect = 1.0
    usual_rate, too_high_rate = 0.5, 1.0
    two_classes = True

    def intercept(self, effect: float, rate: float) -> float:
        return _logistic_intercept(effect, rate)

    def label_bounds(self, rate: float) -> tuple[float, float]:
        return 0.0, 1.0

    def drawn(self, eta: Floats, dispersion: float, rng: np.random.Generator) -> Floats:
        return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(np.float64)

    def largest_curvature(self, intercept: float, spread: float) -> float:
        return 0.25

    def estimator(self) -> type[Any]:
        from discreet.estimators import LogisticRegression

        return LogisticRegression

    def is_hidden(self, mu: float, n: int, rate: float) -> bool:
        return mu * n * rate * (1 - rate) < _OF_TWO_CLASSES

    def check(self, y: Floats) -> None:
        if not np.array_equal(np.unique(y), [0.0, 1.0]):
            raise NoForecast("sample: labels of a logistic model must be 0 and 1, and both must occur")

    def moved(self, y: Floats, other: Floats, mine: Floats, rng: np.random.Generator) -> Floats:
        """As few labels change as can: if classes are nearly separable, the labels of neighbours
        would not be.
        """
        fewer, more = mine / np.maximum(other, 1e-300), (mine - other) / np.maximum(1 - other, 1e-300)
        return (rng.random(len(y)) < np.where(y == 1, fewer, more)).astype(np.float64)


class Counts(Kind):
    """Counts with the mean ``rate``."""

    name, title = "poisson", "Poisson regression"
    model = Poisson(), link("log")
    local_model = "poisson"
    usual_effect = 0.5
    usual_rate, too_high_rate = 1.0, 1000.0

    def intercept(self, effect: float, rate: float) -> float:
        return math.log(rate) - effect**2 / 2

    def label_bounds(self, rate: float) -> tuple[float, float]:
        return 0.0, float(math.ceil(_MOST_COUNTS * max(rate, 1.0)))

    def drawn(self, eta: Floats, dispersion: float, rng: np.random.Generator) -> Floats:
        return rng.poisson(np.exp(eta)).astype(np.float64)

    def largest_curvature(self, intercept: float, spread: float) -> float:
        return math.exp(intercept + spread / 2) * (1 + spread)

    def estimator(self) -> type[Any]:
        from discreet.estimators import PoissonRegressor

        return PoissonRegressor

    def is_hidden(self, mu: float, n: int, rate: float) -> bool:
        return mu * n < _COUNTED

    def check(self, y: Floats) -> None:
        if y.min() < 0 or y.max() == 0:
            raise NoForecast("sample: labels of a Poisson model must be counts, not all of them 0")

    def whole(self, ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        return np.floor(np.maximum(ends[0], 0.0)), np.ceil(ends[1])

    def moved(self, y: Floats, other: Floats, mine: Floats, rng: np.random.Generator) -> Floats:
        return np.rint(mine + np.sqrt(mine / other) * (y - other))


KINDS: dict[str, Kind] = {kind.name: kind for kind in (Linear(), Logistic(), Counts())}
FAMILIES = tuple(KINDS)


def kind_of(family: str) -> Kind:
    """The kind of this name."""
    if family not in KINDS:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    return KINDS[family]


@lru_cache(maxsize=64)
def _logistic_intercept(effect: float, rate: float) -> float:
    """The intercept with which the mean of 1 / (1 + exp(-intercept - effect Z))
    over normal Z is the rate.
    """
    from scipy.optimize import brentq

    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    return float(brentq(lambda a: weights @ (1 / (1 + np.exp(-a - effect * nodes))) - rate, -60.0, 60.0))

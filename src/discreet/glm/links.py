"""The links, with numerically stable formulas, and how to look one up by name."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from discreet.glm.exponential import exponential
from discreet.glm.link_base import CanonicalLink, Floats, Link, floats, product

# exp(700) = 1e304 leaves room for a label's factor. exp(-700) is still a normal number,
# so 1 / mean is finite.
_EXPONENT = 700.0
_LEAST_MEAN = math.exp(-_EXPONENT)
# The canonical gamma predictor stops before 0, so that means and slopes are finite.
_LEAST_NEGATIVE = 1e-100
_ROOT_2 = math.sqrt(2.0)
_NORMAL_DENSITY_AT_0 = 1.0 / math.sqrt(2.0 * math.pi)


def _exp(eta: ArrayLike) -> Floats:
    return exponential(np.clip(floats(eta), -_EXPONENT, _EXPONENT))


def _softplus(eta: Floats) -> Floats:
    # Not np.logaddexp, which warns about NaN: a message would depend on the data.
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))


def _negative(eta: ArrayLike) -> Floats:
    return np.clip(floats(eta), -1.0 / _LEAST_NEGATIVE, -_LEAST_NEGATIVE)


def _probability(mean: ArrayLike) -> Floats:
    """Means strictly between 0 and 1, so that their predictor is finite."""
    return np.clip(floats(mean), _LEAST_MEAN, 1.0 - 2.0**-53)


class Identity(CanonicalLink):
    """mean = eta; canonical for the Gaussian."""

    name = "identity"
    is_identity = True

    def mean(self, eta: ArrayLike) -> Floats:
        return floats(eta)

    def slope(self, eta: ArrayLike) -> Floats:
        return np.ones_like(floats(eta))

    def predictor(self, mean: ArrayLike) -> Floats:
        return floats(mean)

    def cumulant(self, eta: ArrayLike) -> Floats:
        return product(floats(eta), floats(eta) / 2.0)


class Logit(CanonicalLink):
    """mean = 1 / (1 + exp(-eta)); canonical for the Bernoulli."""

    name = "logit"
    least_mean, greatest_mean = 0.0, 1.0
    slope_peak = 0.0

    def mean(self, eta: ArrayLike) -> Floats:
        near = floats(eta)
        tail = exponential(-np.abs(near))
        return np.asarray(np.where(near >= 0.0, 1.0, tail) / (1.0 + tail))

    def slope(self, eta: ArrayLike) -> Floats:
        # mean (1 - mean) is even in eta; this form is accurate where the mean is near 1.
        tail = exponential(-np.abs(floats(eta)))
        return tail / ((1.0 + tail) * (1.0 + tail))

    def predictor(self, mean: ArrayLike) -> Floats:
        return np.asarray(special.logit(_probability(mean)))

    def cumulant(self, eta: ArrayLike) -> Floats:
        return _softplus(floats(eta))


class Probit(Link):
    """mean = Phi(eta), the standard normal distribution function."""

    name = "probit"
    least_mean, greatest_mean = 0.0, 1.0
    slope_peak = 0.0

    def mean(self, eta: ArrayLike) -> Floats:
        return np.asarray(special.ndtr(floats(eta)))

    def slope(self, eta: ArrayLike) -> Floats:
        near = np.clip(floats(eta), -40.0, 40.0)  # exp(-800) is 0
        return _NORMAL_DENSITY_AT_0 * np.exp(-0.5 * (near * near))

    def predictor(self, mean: ArrayLike) -> Floats:
        return np.asarray(special.ndtri(_probability(mean)))

    def relative_slope(self, eta: ArrayLike) -> Floats:
        # phi / (Phi (1 - Phi)) = phi / Phi + phi / (1 - Phi): even, and a sum of two convex
        # functions (Sampford 1953).
        near = np.clip(floats(eta), -1e300, 1e300) / _ROOT_2
        with np.errstate(over="ignore"):
            lower, upper = special.erfcx(-near), special.erfcx(near)
        return np.asarray(2.0 * _NORMAL_DENSITY_AT_0 / lower + 2.0 * _NORMAL_DENSITY_AT_0 / upper)


class Cloglog(Link):
    """mean = 1 - exp(-exp(eta)), the complementary log-log link."""

    name = "cloglog"
    least_mean, greatest_mean = 0.0, 1.0
    slope_peak = 0.0

    def mean(self, eta: ArrayLike) -> Floats:
        return -np.expm1(-_exp(eta))

    def slope(self, eta: ArrayLike) -> Floats:
        hazard = _exp(eta)
        return hazard * np.exp(-hazard)

    def predictor(self, mean: ArrayLike) -> Floats:
        return np.log(-np.log1p(-_probability(mean)))

    def relative_slope(self, eta: ArrayLike) -> Floats:
        hazard = _exp(eta)
        return hazard / -np.expm1(-hazard)


class Log(CanonicalLink):
    """mean = exp(eta); canonical for the Poisson."""

    name = "log"
    least_mean = 0.0
    takes_exposure = True

    def mean(self, eta: ArrayLike) -> Floats:
        return _exp(eta)

    def slope(self, eta: ArrayLike) -> Floats:
        return _exp(eta)

    def predictor(self, mean: ArrayLike) -> Floats:
        return np.log(np.maximum(floats(mean), _LEAST_MEAN))

    def cumulant(self, eta: ArrayLike) -> Floats:
        return _exp(eta)


class Softplus(Link):
    """mean = log(1 + exp(eta)): positive like exp, but it grows only linearly."""

    name = "softplus"
    least_mean = 0.0

    def mean(self, eta: ArrayLike) -> Floats:
        return _softplus(np.maximum(floats(eta), -_EXPONENT))

    def slope(self, eta: ArrayLike) -> Floats:
        return np.asarray(special.expit(np.maximum(floats(eta), -_EXPONENT)))

    def predictor(self, mean: ArrayLike) -> Floats:
        positive = np.maximum(floats(mean), _LEAST_MEAN)
        return positive + np.log(-np.expm1(-positive))

    def relative_slope(self, eta: ArrayLike) -> Floats:
        # It falls: its log-derivative (1 - s) - s / mean is negative, as (1 - s) mean =
        # log(1 + t) / (1 + t) < s.
        return self.slope(eta) / self.mean(eta)


class NegativeInverse(CanonicalLink):
    """mean = -1 / eta for eta < 0; canonical for the gamma, whose cumulant is -log(-eta)."""

    name = "negative_inverse"
    least_mean = 0.0
    greatest_eta = 0.0

    def mean(self, eta: ArrayLike) -> Floats:
        return -1.0 / _negative(eta)

    def slope(self, eta: ArrayLike) -> Floats:
        return self.mean(eta) * self.mean(eta)

    def predictor(self, mean: ArrayLike) -> Floats:
        return -1.0 / np.maximum(floats(mean), _LEAST_MEAN)

    def relative_slope(self, eta: ArrayLike) -> Floats:
        return self.mean(eta)

    def cumulant(self, eta: ArrayLike) -> Floats:
        return -np.log(-_negative(eta))


_ALL: tuple[Link, ...] = (Identity(), Logit(), Probit(), Cloglog(), Log(), Softplus(), NegativeInverse())
LINKS: dict[str, Link] = {one.name: one for one in _ALL}


def link(name: str | Link) -> Link:
    """The link of this name; a link is returned as it is."""
    if isinstance(name, Link):
        return name
    if not isinstance(name, str) or name not in LINKS:
        raise ValueError(f"link must be one of {', '.join(LINKS)}, got {name!r}")
    return LINKS[name]

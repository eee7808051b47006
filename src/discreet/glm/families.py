"""The families, and how to look one up by name."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from discreet.errors import DomainError
from discreet.glm.clipped_means import (
    gamma_capped_square,
    gamma_clipped,
    negative_binomial_clipped,
    poisson_clipped,
    poisson_clipped_rise,
)
from discreet.glm.family_base import Family
from discreet.glm.link_base import Floats, Link, floats, product
from discreet.glm.links import Identity, Log, Logit, NegativeInverse
from discreet.parameters import is_number

# The largest probability below 1: a certain but wrong prediction costs a
# deviance of 73, not infinity.
_NEARLY_ONE = 1.0 - 2.0**-53
# The smallest mean of the log link: every logarithm and every ratio of means is finite.
_LEAST_MEAN = math.exp(-700.0)


def _check_labels(name: str, rule: str, y_low: float, y_high: float, fits: bool) -> None:
    if not (math.isfinite(y_low) and math.isfinite(y_high) and y_low <= y_high):
        raise DomainError(f"bounds_y must be finite with low <= high, got {y_low} and {y_high}")
    if not fits:
        raise DomainError(f"{name} needs labels {rule}, got bounds_y from {y_low} to {y_high}")


def _deviance(half: Floats) -> Floats:
    # Rounding can make a deviance of 0 negative.
    return product(np.maximum(half, 0.0), np.full_like(half, 2.0))


# In a selection among models, deviances are clipped at this many times their typical size ...
_CUT = 6.0
# ... and never below this many times that of a usual nonzero label.
_ROOM = 2.0


class Gaussian(Family):
    """Real labels with constant variance; with a curved link, nonlinear least squares."""

    name = "gaussian"
    canonical_link = default_link = Identity()
    allowed_links = ("identity", "log", "softplus", "logit", "probit", "cloglog")
    convex_links = ("identity",)
    dispersion_known = False
    least_squares = True

    def variance(self, mean: ArrayLike) -> Floats:
        return np.ones_like(floats(mean))

    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        residual = floats(y) - floats(mean)
        return product(residual, residual)

    def distribution(self, y: ArrayLike, mean: ArrayLike, dispersion: float) -> Floats:
        return np.asarray(special.ndtr((floats(y) - floats(mean)) / np.sqrt(dispersion)))

    def largest_deviance(self, labels: tuple[float, float], means: tuple[float, float]) -> float:
        return float((labels[1] - labels[0]) ** 2)  # predictions are within the labels' range

    def loss_bound(self, mean: float, dispersion: float) -> float:
        return _CUT * dispersion

    def check_range(self, y_low: float, y_high: float) -> None:
        _check_labels(self.name, "on the line", y_low, y_high, True)

    def gain(self, eta: ArrayLike, link: Link) -> Floats:
        return link.slope(eta)

    def gain_bound(self, low: Floats, high: Floats, link: Link) -> Floats:
        return link.slope_bound(low, high)


class Bernoulli(Family):
    """Labels 0 and 1, or fractions between them."""

    name = "bernoulli"
    canonical_link = default_link = Logit()
    allowed_links = ("logit", "probit", "cloglog")
    # The score is (1 - y) a(eta) - y c(eta). Here a rises and c falls, as 1 - mean and mean
    # are log-concave in eta.
    convex_links = allowed_links
    dispersion_known = True
    label_free = True
    nonnegative = True

    def is_logistic(self, link: Link) -> bool:
        return link == self.canonical_link

    def variance(self, mean: ArrayLike) -> Floats:
        return floats(mean) * (1.0 - floats(mean))

    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        label, chance = floats(y), np.clip(floats(mean), _LEAST_MEAN, _NEARLY_ONE)
        return _deviance(special.rel_entr(label, chance) + special.rel_entr(1.0 - label, 1.0 - chance))

    def loss_bound(self, mean: float, dispersion: float) -> float:
        return max(4.0, _ROOM * float(self.deviance(1.0, min(mean, 1.0 - mean))))

    def check_range(self, y_low: float, y_high: float) -> None:
        _check_labels(self.name, "in [0, 1]", y_low, y_high, y_low >= 0.0 and y_high <= 1.0)

    def gain(self, eta: ArrayLike, link: Link) -> Floats:
        return link.relative_slope(eta)

    def gain_bound(self, low: Floats, high: Floats, link: Link) -> Floats:
        return link.relative_slope_bound(low, high)

    def size(self, y: ArrayLike, eta: ArrayLike, link: Link) -> Floats:
        # With two labels the only bounded score with mean 0 is a weight, which must
        # not depend on the label.
        mean = link.mean(eta)
        return np.asarray(np.maximum(mean, 1.0 - mean) * self.gain(eta, link))

    def typical_size(self, eta: ArrayLike, link: Link, dispersion: float) -> Floats:
        return self.size(0.0, eta, link)

    def kept(self, size: Floats, bound: Floats) -> Floats:
        return np.asarray(np.minimum(1.0, bound / np.maximum(size, 1e-300)))

    def typical_kept(self, eta: ArrayLike, link: Link, dispersion: float, bound: float) -> Floats:
        return self.kept(self.size(0.0, eta, link), np.asarray(bound))


class _Positive(Family):
    """A family of labels with positive means, whose variance grows at least as fast as the mean."""

    default_link = Log()
    allowed_links: ClassVar[tuple[str, ...]] = ("log", "softplus")
    nonnegative = True

    @abstractmethod
    def damping(self, mean: ArrayLike) -> Floats:
        """mean / variance, which falls as the mean grows."""

    def chance_of_zero(self, mean: float, dispersion: float) -> float:
        """The probability of the label 0."""
        return 0.0

    def loss_bound(self, mean: float, dispersion: float) -> float:
        mean = max(mean, _LEAST_MEAN)
        usual = mean / max(1.0 - self.chance_of_zero(mean, dispersion), _LEAST_MEAN)
        return max(_CUT * dispersion, _ROOM * float(self.deviance(usual, mean)))

    def gain(self, eta: ArrayLike, link: Link) -> Floats:
        return product(link.relative_slope(eta), self.damping(link.mean(eta)))

    def gain_bound(self, low: Floats, high: Floats, link: Link) -> Floats:
        return product(link.relative_slope_bound(low, high), self.damping(link.mean(low)))

    def check_range(self, y_low: float, y_high: float) -> None:
        _check_labels(self.name, ">= 0", y_low, y_high, y_low >= 0.0)


class Poisson(_Positive):
    """Counts whose variance is their mean."""

    name = "poisson"
    canonical_link = Log()
    # Under softplus the score is s - y s / mean, with s the slope: s rises and s / mean falls.
    convex_links = ("log", "softplus")
    dispersion_known = True
    counts = True

    def variance(self, mean: ArrayLike) -> Floats:
        return floats(mean)

    def distribution(self, y: ArrayLike, mean: ArrayLike, dispersion: float) -> Floats:
        return np.where(floats(y) >= 0, special.pdtr(_whole(y), mean), 0.0)

    def damping(self, mean: ArrayLike) -> Floats:
        return np.ones_like(floats(mean))

    def chance_of_zero(self, mean: float, dispersion: float) -> float:
        return math.exp(-mean)

    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        label, positive = floats(y), _positive(mean)
        return _deviance(special.rel_entr(label, positive) + (positive - label))

    def expected_clip(self, mean: Floats, low: Floats, high: Floats, dispersion: float) -> Floats:
        return poisson_clipped(mean, low, high)

    def clipped_rise(self, mean: Floats, low: Floats, high: Floats) -> Floats:
        return poisson_clipped_rise(mean, low, high)


class Gamma(_Positive):
    """Positive labels whose variance is the square of their mean."""

    name = "gamma"
    canonical_link = NegativeInverse()
    allowed_links = ("log", "softplus", "negative_inverse")
    # Under log the score is 1 - y exp(-eta).
    convex_links = ("log", "negative_inverse")
    dispersion_known = False

    def variance(self, mean: ArrayLike) -> Floats:
        return product(floats(mean), floats(mean))

    def distribution(self, y: ArrayLike, mean: ArrayLike, dispersion: float) -> Floats:
        return np.asarray(special.gammainc(1 / dispersion, np.maximum(floats(y), 0) / (floats(mean) * dispersion)))

    def damping(self, mean: ArrayLike) -> Floats:
        return 1.0 / _positive(mean)

    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        label, positive = floats(y), _positive(mean)
        with np.errstate(over="ignore"):
            return _deviance((label - positive) / positive - np.log(_positive(label)) + np.log(positive))

    def loss_bound(self, mean: float, dispersion: float) -> float:
        # Independent of y's unit; beyond dispersion 1 nearly all labels are close to 0.
        return _CUT * min(dispersion, 1.0)

    def check_range(self, y_low: float, y_high: float) -> None:
        _check_labels(self.name, "> 0", y_low, y_high, y_low > 0.0)

    def expected_clip(self, mean: Floats, low: Floats, high: Floats, dispersion: float) -> Floats:
        return mean * gamma_clipped(1 / dispersion, low / mean, high / mean)

    def capped_square(self, cap: float, dispersion: float) -> float:
        return gamma_capped_square(1 / dispersion, cap * dispersion) / dispersion

    def largest_mean(self, y_high: float) -> float:
        # Scores are relative to the mean, and would vanish far beyond the largest label: the
        # mean would stay there.
        return max(4.0 * y_high, 1e-9)


@dataclass(frozen=True)
class NegativeBinomial(_Positive):
    """Counts with variance mean + alpha mean^2; alpha is declared, not estimated."""

    alpha: float = 1.0

    name = "negative_binomial"
    # Under log the score (mean - y) / (1 + alpha mean) has the derivative mean (1 + alpha y) /
    # (1 + alpha mean)^2 > 0.
    convex_links = ("log",)
    dispersion_known = True
    counts = True

    def __post_init__(self) -> None:
        if not (is_number(self.alpha) and 0.0 < self.alpha < math.inf):
            raise ValueError(f"alpha must be > 0 and finite, got {self.alpha!r}")

    def variance(self, mean: ArrayLike) -> Floats:
        return product(floats(mean), self._growth(mean))

    def distribution(self, y: ArrayLike, mean: ArrayLike, dispersion: float) -> Floats:
        shape = 1 / self.alpha
        below = special.betainc(shape, _whole(y) + 1, shape / (shape + floats(mean)))
        return np.where(floats(y) >= 0, below, 0.0)

    def damping(self, mean: ArrayLike) -> Floats:
        return 1.0 / self._growth(mean)

    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        label, positive = floats(y), _positive(mean)
        excess = np.log(self._growth(label)) - np.log(self._growth(positive))
        return _deviance(special.rel_entr(label, positive) - (label + 1.0 / self.alpha) * excess)

    def chance_of_zero(self, mean: float, dispersion: float) -> float:
        return math.exp(-math.log1p(self.alpha * mean) / self.alpha)

    def expected_clip(self, mean: Floats, low: Floats, high: Floats, dispersion: float) -> Floats:
        return negative_binomial_clipped(self.alpha, mean, low, high)

    def _growth(self, mean: ArrayLike) -> Floats:
        with np.errstate(over="ignore"):
            return floats(1.0 + self.alpha * floats(mean))


@dataclass(frozen=True)
class Tweedie(_Positive):
    """Labels with variance mean^power: zero or positive for powers between 1
    and 2, positive from 2 on.
    """

    power: float = 1.5

    name = "tweedie"
    dispersion_known = False

    def __post_init__(self) -> None:
        if not (is_number(self.power) and 1.0 <= self.power < math.inf):
            raise ValueError(f"power must be >= 1 and finite, got {self.power!r}")

    @property
    def convex_links(self) -> tuple[str, ...]:
        # Under log the score is mean^(2 - power) - y mean^(1 - power), whose first
        # term falls once power > 2.
        return ("log",) if self.power <= 2.0 else ()

    def variance(self, mean: ArrayLike) -> Floats:
        return _power(floats(mean), self.power)

    def damping(self, mean: ArrayLike) -> Floats:
        return _power(_positive(mean), 1.0 - self.power)

    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        if self.power in (1.0, 2.0):
            return (Poisson() if self.power == 1.0 else Gamma()).deviance(y, mean)
        label, positive, left, right = floats(y), _positive(mean), 1.0 - self.power, 2.0 - self.power
        own = _power(label if right > 0.0 else _positive(label), right) / (left * right)
        return _deviance(own - product(label, _power(positive, left)) / left + _power(positive, right) / right)

    def loss_bound(self, mean: float, dispersion: float) -> float:
        # A dispersion has the unit y^(2 - power). A noisy one is limited to
        # one nonzero label in ten.
        mean = max(mean, _LEAST_MEAN)
        most = (1.0 if self.power >= 2.0 else 10.0 / max(2.0 - self.power, 0.5)) * mean ** (2.0 - self.power)
        return super().loss_bound(mean, min(dispersion, most))

    def chance_of_zero(self, mean: float, dispersion: float) -> float:
        """For powers between 1 and 2 a label is a Poisson number of gamma amounts."""
        if not 1.0 < self.power < 2.0:
            return math.exp(-mean) if self.power == 1.0 else 0.0
        return math.exp(-(mean ** (2.0 - self.power)) / (dispersion * (2.0 - self.power)))

    def check_range(self, y_low: float, y_high: float) -> None:
        if self.power < 2.0:
            return super().check_range(y_low, y_high)
        _check_labels(f"tweedie with power {self.power:g}", "> 0", y_low, y_high, y_low > 0.0)


def _whole(y: ArrayLike) -> Floats:
    """The largest count up to y, and at least 0."""
    return np.floor(np.maximum(floats(y), 0.0))


def _positive(mean: ArrayLike) -> Floats:
    return np.maximum(floats(mean), _LEAST_MEAN)


def _power(base: Floats, exponent: float) -> Floats:
    with np.errstate(over="ignore"):
        return floats(np.power(base, exponent))


_ALL: tuple[Family, ...] = (Gaussian(), Bernoulli(), Poisson(), Gamma(), NegativeBinomial(), Tweedie())
FAMILIES: dict[str, Family] = {one.name: one for one in _ALL}


def family(name: str | Family) -> Family:
    """The family of this name, with alpha 1 or power 1.5 where it has one; a
    family is returned as it is.
    """
    if isinstance(name, Family):
        return name
    if not isinstance(name, str) or name not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {name!r}")
    return FAMILIES[name]

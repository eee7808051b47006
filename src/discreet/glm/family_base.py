"""The interface of families: variance, deviance, and the two quantities that
solvers release, with bounds.

All methods are elementwise, with dispersion 1 and eta = x^T beta + offset. (An exposure t
is the offset log t of a log link; its declared bounds widen the interval of eta.) With mean
and slope from the link,

    score  = (mean - y) slope / variance   derivative of the negative (quasi) log-likelihood in eta
    weight = slope^2 / variance            its expected second derivative

so a row's gradient is score x and its information weight x x^T. Both are computed from
gain = slope / variance, which is accurate where slope and variance vanish together.

The bounds hold for the computed numbers, not only for the exact ones: they allow for rounding
(_SLACK). Where the loss is convex in eta, the score rises with eta and is linear in y, so its
extremes are at the corners of the declared rectangle. Elsewhere the interval is divided into short
pieces, and on each piece every factor is replaced by its own extreme. These bounds are never too
small, and at most a few per cent too large, unless eta may exceed 750.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from discreet.errors import DiscreetError
from discreet.glm.link_base import CanonicalLink, Floats, Link, floats, product

# The methods here are accurate to a few hundred units of 2^-53; bounds allow for this much.
_SLACK = 2.0**-40
# Over one piece exp(eta) grows by 1 %. Beyond 750 every exponential is saturated,
# and one piece is enough.
_PIECE, _FAR = 0.01, 750.0
# Means are kept this part of the range of labels away from the ends of the link's range.
_ROOM = 1e-6


@dataclass(frozen=True)
class Family(ABC):
    """A distribution of labels given their mean."""

    name: ClassVar[str]
    canonical_link: ClassVar[CanonicalLink | None] = None
    default_link: ClassVar[Link]
    allowed_links: ClassVar[tuple[str, ...]]
    dispersion_known: ClassVar[bool]
    # Whether ``size`` is the same for every label, so that a bound only reweights rows.
    label_free: ClassVar[bool] = False
    # Whether labels have a likelihood; a loss that is given by its slope has none.
    has_likelihood: ClassVar[bool] = True
    # Whether the fit is least squares, whose explained share of the deviance is R^2.
    least_squares: ClassVar[bool] = False
    # Whether labels are at least 0, and whether they are whole numbers.
    nonnegative: ClassVar[bool] = False
    counts: ClassVar[bool] = False

    @property
    @abstractmethod
    def convex_links(self) -> tuple[str, ...]:
        """The links with which the loss is convex in eta for every label of the family."""

    @abstractmethod
    def variance(self, mean: ArrayLike) -> Floats:
        """The variance of a label with this mean, at dispersion 1."""

    @abstractmethod
    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        """The unit deviance: twice the log-likelihood lost to the saturated
        model, at dispersion 1.
        """

    @abstractmethod
    def check_range(self, y_low: float, y_high: float) -> None:
        """Raise DomainError unless every label in [y_low, y_high] is valid for the family."""

    @abstractmethod
    def gain(self, eta: ArrayLike, link: Link) -> Floats:
        """slope / variance: the derivative of the score in the label, up to its sign."""

    @abstractmethod
    def gain_bound(self, low: Floats, high: Floats, link: Link) -> Floats:
        """An upper bound on the gain for eta in [low, high]; exact up to
        rounding on short intervals.
        """

    def distribution(self, y: ArrayLike, mean: ArrayLike, dispersion: float) -> Floats:
        """The probability of a label of at most y."""
        raise DiscreetError(f"the {self.name} family has no prediction intervals here; use mean_interval")

    def is_logistic(self, link: Link) -> bool:
        """Whether this is logistic regression: every |score| is at most 1 and every weight 1/4."""
        return False

    def mean_range(self, y_low: float, y_high: float, link: Link) -> tuple[float, float]:
        """The means of labels in [y_low, y_high], slightly within the range of the link, at whose
        ends predictors diverge.
        """
        room = _ROOM * (y_high - y_low)
        return max(y_low, link.least_mean + room), min(y_high, link.greatest_mean - room)

    def largest_deviance(self, labels: tuple[float, float], means: tuple[float, float]) -> float:
        """The largest finite deviance of these labels and means, and at least 1."""
        pairs = [(y, mean) for y in labels for mean in means]
        found = [float(self.deviance(np.array([y]), np.array([mean]))[0]) for y, mean in pairs]
        return float(max([one for one in found if math.isfinite(one)] + [1.0]))

    @property
    def limit(self) -> float | None:
        """A declared bound on |score|; None if there is none."""
        return None

    def within(self, y_low: float, y_high: float) -> Family:
        """The family for labels in this range."""
        return self

    def in_units(self, centre: float, unit: float) -> Family:
        """The family of labels and predictors in these units; the same for least squares."""
        return self

    def loss_bound(self, mean: float, dispersion: float) -> float | None:
        """Where a selection among models clips a row's deviance, at a typical mean
        and dispersion; or None.

        Several times the deviance of usual rows: a clip below that of a usual label would favour
        models that never predict one.
        """
        return None

    def size(self, y: ArrayLike, eta: ArrayLike, link: Link) -> Floats:
        """What a bound on scores is compared with: |score|, or the largest
        |score| over all labels.
        """
        return np.abs(self.score(y, eta, link))

    def typical_size(self, eta: ArrayLike, link: Link, dispersion: float) -> Floats:
        """The root mean square of ``size`` at this eta, if the model is true."""
        return np.sqrt(dispersion * self.weight(eta, link))

    def kept(self, size: Floats, bound: Floats) -> Floats:
        """The part of a score's slope that a bound keeps: a clipped score does
        not change with eta.
        """
        return np.asarray(size < bound, dtype=np.float64)

    def typical_kept(self, eta: ArrayLike, link: Link, dispersion: float, bound: float) -> Floats:
        """The mean of ``kept`` at this eta, for approximately normal scores."""
        size = np.maximum(self.typical_size(eta, link, dispersion), 1e-300)
        return np.asarray(erf(bound / (math.sqrt(2.0) * size)))

    def expected_clip(self, mean: Floats, low: Floats, high: Floats, dispersion: float) -> Floats | None:
        """E max(-low, min(high, Y - mean)) for labels of this mean; None if
        it is 0 or has no formula.
        """
        return None

    def clipped_rise(self, mean: Floats, low: Floats, high: Floats) -> Floats | None:
        """The derivative in the mean of E max(lower, min(upper, Y)), whose limits mean - low and
        mean + high stay; None if it has no formula.
        """
        return None

    def squared_residual(self, y: ArrayLike, eta: ArrayLike, link: Link) -> Floats:
        """(y - mean)^2 / variance, whose mean is the dispersion; finite also
        where the slope vanishes.
        """
        mean = link.mean(eta)
        residual = floats(y) - mean
        return product(residual, residual / np.clip(self.variance(mean), 1e-300, np.inf))

    def capped_square(self, cap: float, dispersion: float) -> float:
        """E min(r^2, cap) for a standardised residual r = (Y - mean) / sqrt(dispersion
        variance), taken as normal.
        """
        root = math.sqrt(cap)
        inside = math.erf(root / math.sqrt(2.0))
        return inside - root * math.exp(-cap / 2) * math.sqrt(2 / math.pi) + cap * (1 - inside)

    def largest_mean(self, y_high: float) -> float:
        """Larger means are replaced by this one."""
        return 1e12

    def check_link(self, link: Link) -> None:
        """Raise ValueError unless the family allows this link."""
        if link.name not in self.allowed_links:
            raise ValueError(f"{self.name} allows the links {', '.join(self.allowed_links)}, got {link.name!r}")

    def score(self, y: ArrayLike, eta: ArrayLike, link: Link) -> Floats:
        """The derivative in eta of the unit negative log-likelihood (or quasi-likelihood)."""
        residual = link.mean(eta) - floats(y)
        return residual if link == self.canonical_link else product(residual, self.gain(eta, link))

    def weight(self, eta: ArrayLike, link: Link) -> Floats:
        """The expected second derivative in eta of the unit negative log-likelihood."""
        slope = link.slope(eta)
        return slope if link == self.canonical_link else product(slope, self.gain(eta, link))

    def score_bound(self, y_low: float, y_high: float, eta_low: float, eta_high: float, link: Link) -> float:
        """An upper bound on |score| for labels in [y_low, y_high] and eta in
        [eta_low, eta_high].
        """
        self.check_range(y_low, y_high)
        self.check_link(link)
        corners = link.name in self.convex_links
        low, high = _ends(eta_low, eta_high, link) if corners else _pieces(eta_low, eta_high, link)
        least, greatest = link.mean_bounds(low, high)
        gain = self.gain_bound(low, high, link)
        with np.errstate(over="ignore"):
            distance = np.maximum(np.abs(greatest - y_low), np.abs(y_high - least))
            # Rounding errors are proportional to the terms of the difference.
            terms = np.maximum(np.abs(least), np.abs(greatest)) + max(abs(y_low), abs(y_high))
            return float(np.max(product(floats(distance + _SLACK * terms), gain)))

    def weight_bound(self, eta_low: float, eta_high: float, link: Link) -> float:
        """An upper bound on the weight for eta in [eta_low, eta_high]."""
        self.check_link(link)
        low, high = _pieces(eta_low, eta_high, link)
        bound = link.slope_bound(low, high)
        if link != self.canonical_link:  # whose gain is 1
            bound = product(bound, self.gain_bound(low, high, link))
        return float(np.max(product(bound, np.full_like(bound, 1.0 + _SLACK))))

    def cumulant(self, eta: ArrayLike) -> Floats:
        """The cumulant function of the natural parameter: the log-likelihood
        is y eta - cumulant(eta).
        """
        return self._natural().cumulant(eta)

    def cumulant_slope(self, eta: ArrayLike) -> Floats:
        """The first derivative of the cumulant, which is the mean."""
        return self._natural().mean(eta)

    def _natural(self) -> CanonicalLink:
        if self.canonical_link is None:
            raise ValueError(f"{self.name} has no canonical link here, so it has no cumulant function")
        return self.canonical_link


def _ends(low: float, high: float, link: Link) -> tuple[Floats, Floats]:
    """The two ends of the interval, each as an interval of its own."""
    bottom, top = link.check_interval(low, high)
    ends = np.array([float(bottom), float(top)])
    return ends, ends


def _pieces(low: float, high: float, link: Link) -> tuple[Floats, Floats]:
    """Lower and upper ends of short intervals that cover [low, high]."""
    bottom, top = (float(end) for end in link.check_interval(low, high))
    near, far = np.clip([bottom, top], -_FAR, _FAR)
    inner = np.linspace(near, far, 64 + math.ceil((far - near) / _PIECE))
    edges = np.clip(np.concatenate([[bottom], inner, [top]]), bottom, top)
    return edges[:-1], edges[1:]

"""What every family offers: variance, deviance, and the two quantities that solvers release, with their bounds.

All methods are elementwise, for one row at a time, with dispersion 1 and eta = x^T beta + offset (an exposure t is the
offset log t of a log link; declared bounds on it widen the interval of eta). With mean and slope from the link,

    score  = (mean - y) slope / variance     the derivative of the unit (quasi) negative log-likelihood in eta
    weight = slope^2 / variance              its expected second derivative

so a row's gradient is score x and its information weight x x^T. Both are computed from the gain = slope / variance,
which is kept accurate where slope and variance vanish together.

The bounds hold for the numbers these methods return, not only for the exact ones: rounding is allowed for (_SLACK).
Where the loss is convex in eta, the score rises with eta and is linear in y, so its extremes are at the corners of the
declared rectangle. Elsewhere the interval is cut into short pieces, and on each piece every factor is replaced by its
own extreme: never too small, and a few per cent too large at most, unless eta is allowed beyond 750.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from discreet.glm.link_base import CanonicalLink, Floats, Link, floats, product

# The methods here are right to a few hundred units of 2^-53; this is their allowance in a bound.
_SLACK = 2.0**-40
# Over one piece exp(eta) grows by 1 %. Beyond 750 every exponential is saturated, and one piece serves.
_PIECE, _FAR = 0.01, 750.0


@dataclass(frozen=True)
class CumulantBounds:
    """Extremes of a cumulant's first, second and (in absolute value) third derivative on an interval."""

    slope: tuple[float, float]
    curvature: tuple[float, float]
    third: float


@dataclass(frozen=True)
class Family(ABC):
    """A distribution of labels given their mean."""

    name: ClassVar[str]
    canonical_link: ClassVar[CanonicalLink | None] = None
    default_link: ClassVar[Link]
    allowed_links: ClassVar[tuple[str, ...]]
    dispersion_known: ClassVar[bool]
    # Whether ``size`` is the same for every label, so that a bound only weighs rows.
    label_free: ClassVar[bool] = False

    @property
    @abstractmethod
    def convex_links(self) -> tuple[str, ...]:
        """The links with which the loss is convex in eta for every label of the family."""

    @abstractmethod
    def variance(self, mean: ArrayLike) -> Floats:
        """The variance of a label with this mean, at dispersion 1."""

    @abstractmethod
    def deviance(self, y: ArrayLike, mean: ArrayLike) -> Floats:
        """The unit deviance: twice the log-likelihood lost to the saturated model, at dispersion 1."""

    @abstractmethod
    def check_range(self, y_low: float, y_high: float) -> None:
        """Raise DomainError unless every label in [y_low, y_high] is one of the family's."""

    @abstractmethod
    def gain(self, eta: ArrayLike, link: Link) -> Floats:
        """slope / variance: how far the score moves with the label."""

    @abstractmethod
    def gain_bound(self, low: Floats, high: Floats, link: Link) -> Floats:
        """No less than the gain for eta in [low, high]; within rounding of it on short intervals."""

    @property
    def limit(self) -> float | None:
        """A declared bound of |score|; None where scores have none of their own."""
        return None

    def within(self, y_low: float, y_high: float) -> Family:
        """The family for labels in this range."""
        return self

    def in_units(self, centre: float, unit: float) -> Family:
        """The family of labels and predictors measured from ``centre`` in these units; least squares does not mind."""
        return self

    def loss_bound(self, mean: float, dispersion: float) -> float | None:
        """Where a choice among models cuts a row's deviance, at a typical mean and dispersion; None if nobody knows.

        Several times what usual rows have: a cut below that of a usual label would favour the models that never
        expect one.
        """
        return None

    def size(self, y: ArrayLike, eta: ArrayLike, link: Link) -> Floats:
        """What a bound on scores is compared with: |score|, or the largest one that a label could have."""
        return np.abs(self.score(y, eta, link))

    def typical_size(self, eta: ArrayLike, link: Link, dispersion: float) -> Floats:
        """The root mean square of ``size`` at this eta, if the model is true."""
        return np.sqrt(dispersion * self.weight(eta, link))

    def kept(self, size: Floats, bound: Floats) -> Floats:
        """The part of a score's slope that a bound leaves: a score beyond it no longer moves with eta."""
        return np.asarray(size < bound, dtype=np.float64)

    def typical_kept(self, eta: ArrayLike, link: Link, dispersion: float, bound: float) -> Floats:
        """The mean of ``kept`` at this eta, for scores that are about normal."""
        size = np.maximum(self.typical_size(eta, link, dispersion), 1e-300)
        return np.asarray(erf(bound / (math.sqrt(2.0) * size)))

    def expected_clip(self, mean: Floats, low: Floats, high: Floats, dispersion: float) -> Floats | None:
        """E max(-low, min(high, Y - mean)) for labels of this mean; None where that is 0 or has no formula."""
        return None

    def squared_residual(self, y: ArrayLike, eta: ArrayLike, link: Link) -> Floats:
        """(y - mean)^2 / variance, whose mean is the dispersion; finite, and no 0 / 0 where the slope vanishes."""
        mean = link.mean(eta)
        residual = floats(y) - mean
        return product(residual, residual / np.maximum(self.variance(mean), 1e-300))

    def capped_square(self, cap: float, dispersion: float) -> float:
        """E min(r^2, cap) for a standardised residual r = (Y - mean) / sqrt(dispersion variance), taken as normal."""
        root = math.sqrt(cap)
        inside = math.erf(root / math.sqrt(2.0))
        return inside - root * math.exp(-cap / 2) * math.sqrt(2 / math.pi) + cap * (1 - inside)

    def largest_mean(self, y_high: float) -> float:
        """Beyond this a mean is treated as if it stood there."""
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
        """No less than |score| for labels in [y_low, y_high] and eta in [eta_low, eta_high]."""
        self.check_range(y_low, y_high)
        self.check_link(link)
        corners = link.name in self.convex_links
        low, high = _ends(eta_low, eta_high, link) if corners else _pieces(eta_low, eta_high, link)
        least, greatest = link.mean_bounds(low, high)
        gain = self.gain_bound(low, high, link)
        with np.errstate(over="ignore"):
            distance = np.maximum(np.abs(greatest - y_low), np.abs(y_high - least))
            # What rounding can add is in proportion to the terms of the difference.
            terms = np.maximum(np.abs(least), np.abs(greatest)) + max(abs(y_low), abs(y_high))
            return float(np.max(product(floats(distance + _SLACK * terms), gain)))

    def weight_bound(self, eta_low: float, eta_high: float, link: Link) -> float:
        """No less than the weight for eta in [eta_low, eta_high]."""
        self.check_link(link)
        low, high = _pieces(eta_low, eta_high, link)
        bound = link.slope_bound(low, high)
        if link != self.canonical_link:  # there the gain is 1
            bound = product(bound, self.gain_bound(low, high, link))
        return float(np.max(product(bound, np.full_like(bound, 1.0 + _SLACK))))

    def cumulant(self, eta: ArrayLike) -> Floats:
        """The cumulant function of the natural parameter: the log-likelihood is y eta - cumulant(eta)."""
        return self._natural().cumulant(eta)

    def cumulant_slope(self, eta: ArrayLike) -> Floats:
        """The first derivative of the cumulant, which is the mean."""
        return self._natural().mean(eta)

    def cumulant_curvature(self, eta: ArrayLike) -> Floats:
        """The second derivative of the cumulant, which is the variance."""
        return self._natural().slope(eta)

    def cumulant_third(self, eta: ArrayLike) -> Floats:
        """The third derivative of the cumulant."""
        return self._natural().curvature(eta)

    def cumulant_bounds(self, low: float, high: float) -> CumulantBounds:
        """Extremes of the cumulant's derivatives for natural parameters in [low, high], exact up to rounding."""
        link = self._natural()
        mean, slope = link.mean_bounds(low, high), link.slope_bounds(low, high)
        third = float(link.curvature_bound(low, high))
        return CumulantBounds((float(mean[0]), float(mean[1])), (float(slope[0]), float(slope[1])), third)

    def _natural(self) -> CanonicalLink:
        if self.canonical_link is None:
            raise ValueError(f"{self.name} has no cumulant function here: it is not used with a canonical link")
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

"""The interface of links: the mean of a label as a function of the linear predictor
eta = x^T beta + offset.

Every method is elementwise, so a row's value does not depend on other rows. An exposure enters as
the offset log(exposure) of a log link; links and families see only the resulting eta. Beyond the
range of float64, values saturate at the nearest finite number: there are no infinities and no
warnings. A NaN eta has a NaN mean.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DomainError

Floats = NDArray[np.float64]

LARGEST = float(np.finfo(np.float64).max)


def floats(values: ArrayLike) -> Floats:
    """The values as a new float64 array, infinities replaced by the largest finite numbers."""
    return np.asarray(np.clip(np.asarray(values, dtype=np.float64), -LARGEST, LARGEST))


def product(left: Floats, right: Floats) -> Floats:
    """The elementwise product of finite arrays, saturated where it would overflow."""
    with np.errstate(over="ignore"):
        return floats(left * right)


class MeanFunction(Protocol):
    """A mean function of eta with its derivative, each elementwise; what local models need."""

    @property
    def name(self) -> str: ...

    @property
    def is_identity(self) -> bool: ...

    def mean(self, eta: Floats, /) -> Floats: ...

    def slope(self, eta: Floats, /) -> Floats: ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Link(ABC):
    """An increasing mean function of eta, with its derivative and their bounds on an interval."""

    name: ClassVar[str]
    # The range of the means.
    least_mean: ClassVar[float] = -math.inf
    greatest_mean: ClassVar[float] = math.inf
    # Where the slope is largest: it increases up to here and decreases after.
    # Infinity: it never decreases.
    slope_peak: ClassVar[float] = math.inf
    # The link is defined for smaller eta only.
    greatest_eta: ClassVar[float] = math.inf
    # Whether the mean is the linear predictor itself.
    is_identity: ClassVar[bool] = False
    # Whether an exposure t multiplies the mean, as the offset log(t).
    takes_exposure: ClassVar[bool] = False

    @abstractmethod
    def mean(self, eta: ArrayLike) -> Floats:
        """The mean label at this linear predictor (the inverse link)."""

    @abstractmethod
    def slope(self, eta: ArrayLike) -> Floats:
        """The first derivative of the mean."""

    @abstractmethod
    def predictor(self, mean: ArrayLike) -> Floats:
        """The linear predictor that has this mean (the link)."""

    def relative_slope(self, eta: ArrayLike) -> Floats:
        """The slope over 1, mean or mean (1 - mean), for means on the line, above 0 or in (0, 1).

        It is accurate where both parts vanish. In every link it is constant (1 in
        identity, logit and log), monotone, or decreasing and then increasing, so its
        maximum on an interval is at an end.
        """
        return np.ones_like(floats(eta))

    def check_interval(self, low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
        """The ends of eta's interval as finite numbers; raises a DomainError
        if they are no interval.
        """
        bottom, top = floats(low), floats(high)
        if not np.all(bottom <= top):
            raise DomainError(f"eta needs low <= high, got {bottom} and {top}")
        if not np.all(top < self.greatest_eta):
            raise DomainError(f"the {self.name} link needs eta < {self.greatest_eta:g}, got {top}")
        return bottom, top

    def mean_bounds(self, low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
        """The least and the greatest mean for eta in [low, high], exact up to rounding."""
        bottom, top = self.check_interval(low, high)
        return self.mean(bottom), self.mean(top)

    def slope_bound(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """The greatest slope for eta in [low, high], exact up to rounding."""
        bottom, top = self.check_interval(low, high)
        return self.slope(np.clip(self.slope_peak, bottom, top))  # the point nearest to the only peak

    def relative_slope_bound(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """The greatest relative slope for eta in [low, high], exact up to rounding."""
        bottom, top = self.check_interval(low, high)
        return np.maximum(self.relative_slope(bottom), self.relative_slope(top))


class CanonicalLink(Link):
    """A link whose eta is the natural parameter of a family."""

    @abstractmethod
    def cumulant(self, eta: ArrayLike) -> Floats:
        """The family's cumulant function b, whose derivative is the mean: the
        log-likelihood is y eta - b(eta).
        """

"""Links of single-index models: increasing means on the line, fitted by least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.glm.link_base import LARGEST, Floats, Link, floats, product
from discreet.glm.links import Logit, Softplus

# Larger predictors are clipped: no cubic model needs them, and their cubes are far from overflow.
_FARTHEST_CUBE = 1e6
# The same for squares; the mean is 0 or 1 long before.
_FARTHEST_SQUARE = 1e100


class _IndexLink(Link):
    """A link for labels of constant variance: there is no variance function to
    divide the slope by.
    """

    def relative_slope(self, eta: ArrayLike) -> Floats:
        return self.slope(eta)

    def relative_slope_bound(self, low: ArrayLike, high: ArrayLike) -> Floats:
        return self.slope_bound(low, high)


@dataclass(frozen=True)
class LeakyReLU(_IndexLink):
    """mean = eta above 0, leak * eta below."""

    name = "leaky_relu"
    leak: float = 0.01

    def __post_init__(self) -> None:
        if not 0 < self.leak < 1:
            raise ValueError(f"leak must be between 0 and 1, got {self.leak}")

    def mean(self, eta: ArrayLike) -> Floats:
        return np.maximum(floats(eta), self.leak * floats(eta))

    def slope(self, eta: ArrayLike) -> Floats:
        return np.where(floats(eta) > 0, 1.0, self.leak)

    def predictor(self, mean: ArrayLike) -> Floats:
        return np.minimum(floats(mean), product(floats(mean), np.asarray(1.0 / self.leak)))


class ReLU(_IndexLink):
    """mean = max(0, eta)."""

    name = "relu"
    least_mean = 0.0

    def mean(self, eta: ArrayLike) -> Floats:
        return np.maximum(floats(eta), 0.0)

    def slope(self, eta: ArrayLike) -> Floats:
        # 1/2 at the kink, where all rows of a model without slopes lie: with 0 the
        # gradient would vanish there.
        return np.heaviside(floats(eta), 0.5)

    def predictor(self, mean: ArrayLike) -> Floats:
        return np.maximum(floats(mean), 0.0)


class Cubic(_IndexLink):
    """mean = eta^3 / 3."""

    name = "cubic"

    def mean(self, eta: ArrayLike) -> Floats:
        near = _near(eta)
        return near * near * near / 3.0

    def slope(self, eta: ArrayLike) -> Floats:
        return _near(eta) * _near(eta)

    def predictor(self, mean: ArrayLike) -> Floats:
        return np.asarray(np.cbrt(3.0 * np.clip(floats(mean), -LARGEST / 4, LARGEST / 4)))

    def slope_bound(self, low: ArrayLike, high: ArrayLike) -> Floats:
        # The slope decreases up to 0 and increases after it, unlike in every other link.
        bottom, top = self.check_interval(low, high)
        return np.maximum(self.slope(bottom), self.slope(top))


class Boosting(_IndexLink):
    """mean = 1/2 + q / 2 with q = sin(arctan(eta / 2)): a loss of boosting (NLDP, Theorem 17)."""

    name = "boosting"
    least_mean, greatest_mean = 0.0, 1.0
    slope_peak = 0.0

    def mean(self, eta: ArrayLike) -> Floats:
        half = _half(eta)
        return 0.5 + 0.5 * half / np.sqrt(1.0 + half * half)

    def slope(self, eta: ArrayLike) -> Floats:
        half = _half(eta)
        return 0.25 / (1.0 + half * half) ** 1.5

    def predictor(self, mean: ArrayLike) -> Floats:
        # Means so near to 0 or 1 that their predictor has no digit left stop there.
        part = np.clip(2.0 * floats(mean) - 1.0, -1.0 + 2.0**-53, 1.0 - 2.0**-53)
        return np.asarray(2.0 * part / np.sqrt((1.0 - part) * (1.0 + part)))


def _half(eta: ArrayLike) -> Floats:
    return np.clip(floats(eta), -_FARTHEST_SQUARE, _FARTHEST_SQUARE) / 2.0


def _near(eta: ArrayLike) -> Floats:
    return np.clip(floats(eta), -_FARTHEST_CUBE, _FARTHEST_CUBE)


# Under the names that single-index models use.
INDEX_LINKS: dict[str, Link] = {
    "relu": ReLU(),
    "leaky_relu": LeakyReLU(),
    "sigmoid": Logit(),
    "softplus": Softplus(),
    "cubic": Cubic(),
}


def index_link(name: str | Link) -> Link:
    """The link of this name; a link is returned as it is."""
    if isinstance(name, Link):
        return name
    for known, link in INDEX_LINKS.items():
        if name in (known, link.name):
            return link
    raise ValueError(f"link must be one of {', '.join(INDEX_LINKS)}, got {name!r}")

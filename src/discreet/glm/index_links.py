"""Mean functions of single-index models: E[y | x] = mean(x^T w + b), for a known increasing mean.

Every method is elementwise, so a row's value does not depend on the rows beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

# Beyond this no mean is meant, and its cube is still far from overflowing.
_FAR = 1e6


@dataclass(frozen=True)
class IndexLink:
    """An increasing mean function and its slope.

    ``least`` and ``greatest`` are the ends of the means' range. ``inverse`` gives the index of a mean inside it.
    """

    name: str
    mean: Function
    slope: Function
    inverse: Callable[[float], float]
    least: float = -math.inf
    greatest: float = math.inf
    leak: float = 0.0

    def slope_bound(self, low: float, high: float) -> float:
        """The greatest slope where the mean is a value that y is declared to take."""
        if self.name == "cubic":
            return float(max(abs(self.inverse(low)), abs(self.inverse(high))) ** 2)
        return 0.25 if self.name == "sigmoid" else 1.0

    def __repr__(self) -> str:
        return f"IndexLink({self.name!r})"


def _near(eta: Floats) -> Floats:
    return np.clip(eta, -_FAR, _FAR)


def _softplus(eta: Floats) -> Floats:
    # Not np.logaddexp, which warns of a NaN: a message would depend on the data.
    return np.maximum(eta, 0.0) + np.log1p(np.exp(-np.abs(eta)))


def _sigmoid_slope(eta: Floats) -> Floats:
    tail = np.exp(-np.abs(eta))
    return tail / ((1.0 + tail) * (1.0 + tail))


def leaky_relu(leak: float = 0.01) -> IndexLink:
    """eta above 0, leak * eta below; 0 < leak < 1."""
    if not 0 < leak < 1:
        raise ValueError(f"leak must be between 0 and 1, got {leak}")
    return IndexLink(
        "leaky_relu",
        lambda eta: np.maximum(eta, leak * eta),
        lambda eta: np.where(eta > 0, 1.0, leak),
        lambda mean: mean if mean > 0 else mean / leak,
        leak=leak,
    )


RELU = IndexLink(
    "relu",
    lambda eta: np.maximum(eta, 0.0),
    lambda eta: (eta > 0).astype(np.float64),
    lambda mean: max(mean, 0.0),
    least=0.0,
)
SIGMOID = IndexLink(
    "sigmoid",
    lambda eta: np.asarray(expit(eta)),
    _sigmoid_slope,
    lambda mean: math.log(mean / (1 - mean)),
    least=0.0,
    greatest=1.0,
)
SOFTPLUS = IndexLink(
    "softplus",
    _softplus,
    lambda eta: np.asarray(expit(eta)),
    lambda mean: mean + math.log(-math.expm1(-mean)),
    least=0.0,
)
CUBIC = IndexLink(
    "cubic",
    lambda eta: _near(eta) ** 3 / 3.0,
    lambda eta: _near(eta) ** 2,
    lambda mean: math.copysign((3 * abs(mean)) ** (1 / 3), mean),
)

INDEX_LINKS: dict[str, IndexLink] = {link.name: link for link in (RELU, leaky_relu(), SIGMOID, SOFTPLUS, CUBIC)}


def index_link(name: str | IndexLink) -> IndexLink:
    """The link of this name; a link is returned as it is."""
    if isinstance(name, IndexLink):
        return name
    if name not in INDEX_LINKS:
        raise ValueError(f"link must be one of {', '.join(INDEX_LINKS)}, got {name!r}")
    return INDEX_LINKS[name]

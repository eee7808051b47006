"""Mean functions: E[y | x] = mean(eta), with the first two derivatives that root finding needs.
Numpy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

# exp(60) squared is still finite, and no real mean is that large.
_FAR = 60.0


@dataclass(frozen=True)
class Link:
    """A mean function with its slope and curvature, each elementwise.

    For a GLM with loss Phi(eta) - y eta these are Phi', Phi'' and Phi''' (NLDP's notation).

    Parameters
    ----------
    name : str
        What the link is called.
    mean : callable
        The mean of the label as a function of the linear predictor.
    slope : callable
        Its first derivative.
    curvature : callable
        Its second derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.local import Link
    >>> link = Link(
    ...     "square root", np.sqrt, lambda eta: 0.5 / np.sqrt(eta), lambda eta: -0.25 * eta**-1.5
    ... )
    >>> float(link.mean(4.0))
    2.0
    """

    name: str
    mean: Function
    slope: Function
    curvature: Function

    @property
    def is_identity(self) -> bool:
        """Whether the mean is the linear predictor itself."""
        return self.name == "identity"


def _sigmoid(eta: Floats) -> Floats:
    return 0.5 * (1.0 + np.tanh(0.5 * eta))


def _sigmoid_slope(eta: Floats) -> Floats:
    return 0.25 * (1.0 - np.tanh(0.5 * eta) ** 2)


def _sigmoid_curvature(eta: Floats) -> Floats:
    return -_sigmoid_slope(eta) * np.tanh(0.5 * eta)


def _exp(eta: Floats) -> Floats:
    return np.exp(np.minimum(eta, _FAR))


def _boosting_root(eta: Floats) -> Floats:
    return np.sqrt(1.0 + eta**2 / 4.0)


SIGMOID = Link("sigmoid", _sigmoid, _sigmoid_slope, _sigmoid_curvature)
CUBIC = Link("cubic", lambda eta: eta**3 / 3.0, lambda eta: eta**2, lambda eta: 2.0 * eta)
SOFTPLUS = Link("softplus", lambda eta: np.logaddexp(0.0, eta), _sigmoid, _sigmoid_slope)
IDENTITY = Link("identity", lambda eta: eta, np.ones_like, np.zeros_like)
# Phi(z) = z/2 + sqrt(1 + z^2/4), NLDP Theorem 17.
BOOSTING = Link(
    "boosting",
    lambda eta: 0.5 + eta / (4.0 * _boosting_root(eta)),
    lambda eta: 0.25 / _boosting_root(eta) ** 3,
    lambda eta: -0.1875 * eta / _boosting_root(eta) ** 5,
)
_LOG = ("exponential", "poisson")  # one mean function: Phi(z) = e^z is the cumulant of Poisson counts

GLMS: dict[str, Link] = {
    "logistic": Link("logistic", _sigmoid, _sigmoid_slope, _sigmoid_curvature),
    "boosting": BOOSTING,
    **{name: Link(name, _exp, _exp, _exp) for name in _LOG},
}
LINKS: dict[str, Link] = {link.name: link for link in (SIGMOID, CUBIC, SOFTPLUS, IDENTITY)}


def decreasing(link: Link) -> Link:
    """The link of -eta, as in NLDP's sigmoid and softplus."""
    return Link(
        f"{link.name}(-eta)",
        lambda eta: link.mean(-eta),
        lambda eta: -link.slope(-eta),
        lambda eta: link.curvature(-eta),
    )

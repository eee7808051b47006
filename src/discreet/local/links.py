"""The mean functions of local models: E[y | x] = mean(eta), by the names of NLDP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from discreet import glm
from discreet.glm import Identity, Log, Logit, MeanFunction, Softplus
from discreet.glm.index_links import Boosting, Cubic
from discreet.local.columns import Floats

Function = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Link:
    """A mean function of your own with its slope, each elementwise. It need not increase.

    Parameters
    ----------
    name : str
        What the link is called.
    mean : callable
        The mean of the label as a function of the linear predictor.
    slope : callable
        Its first derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.local import Link
    >>> link = Link("square root", np.sqrt, lambda eta: 0.5 / np.sqrt(eta))
    >>> float(link.mean(4.0))
    2.0
    """

    name: str
    mean: Function
    slope: Function
    is_identity: ClassVar[bool] = False


# Phi(z) = e^z is the cumulant of Poisson counts as well.
GLMS: dict[str, glm.Link] = {"logistic": Logit(), "boosting": Boosting(), "exponential": Log(), "poisson": Log()}
LINKS: dict[str, MeanFunction] = {"sigmoid": Logit(), "cubic": Cubic(), "softplus": Softplus(), "identity": Identity()}


def decreasing(link: MeanFunction) -> Link:
    """The link of -eta, as in NLDP's sigmoid and softplus."""
    return Link(f"{link.name}(-eta)", lambda eta: link.mean(-eta), lambda eta: -link.slope(-eta))

"""The lower bound shown with a forecast, in the forecast's units."""

from __future__ import annotations

import math

from discreet.planning.design import Design
from discreet.planning.lower_bounds import glm_lower_bound
from discreet.privacy import GDP

# The bound is for the worst coefficients up to this many times those of the design.
_ROOM = 2.0


def coefficient_bound(design: Design, n: int, mu: float, neighbours: str) -> float:
    """The root mean square error of a coefficient that every mu-GDP method
    has somewhere in the box.

    Information: 1 / sigma^2 for linear and 1/4 for logistic models. For Poisson models, the largest
    eigenvalue of E exp(eta) x x^T is exp(a + s^2 / 2) (1 + s^2), with a the intercept and s^2 <= d
    b^2 the variance of eta in the box.
    """
    box = _ROOM * design.effect / math.sqrt(design.d)
    spread = design.d * box**2
    bound = glm_lower_bound(
        n,
        design.d,
        GDP(mu),
        dispersion=design.dispersion,
        curvature=design.kind.largest_curvature(design.intercept, spread),
        x_variance=1.0,
        x_norm=math.sqrt(design.d),
        coef_bound=box,
        neighbours=neighbours,
    )
    return math.sqrt(bound.value / design.d)

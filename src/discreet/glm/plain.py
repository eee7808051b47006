"""The non-private fit of a generalized linear model, for public rows."""

from __future__ import annotations

import numpy as np

from discreet.glm.family_base import Family
from discreet.glm.link_base import Floats, Link

_MOST_STEPS = 100
_SHORTEST_STEP = 2.0**-20


def fit_plain(
    family: Family, link: Link, rows: Floats, y: Floats, penalty: Floats, start: Floats, offset: Floats | float = 0.0
) -> Floats:
    """The minimiser of mean deviance / 2 + penalty * coefficient^2 / 2, by
    damped Fisher scoring.
    """

    def loss(coefficients: Floats) -> float:
        mean = link.mean(rows @ coefficients + offset)
        return float(np.mean(family.deviance(y, mean)) / 2 + penalty @ coefficients**2 / 2)

    coefficients, value = start, loss(start)
    for _ in range(_MOST_STEPS):
        eta = rows @ coefficients + offset
        gradient = rows.T @ family.score(y, eta, link) / len(rows) + penalty * coefficients
        curvature = (rows.T * family.weight(eta, link)) @ rows / len(rows) + np.diag(penalty)
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        length = 1.0
        while (shorter := loss(coefficients - length * step)) > value and length > _SHORTEST_STEP:
            length /= 2
        if not shorter < value - 1e-12 * abs(value):
            break
        coefficients, value = coefficients - length * step, shorter
    return coefficients

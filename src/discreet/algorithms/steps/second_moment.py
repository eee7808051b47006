"""Planning the release of the second moment of (1, x, y): centring, scaling and clip norms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from discreet.algorithms.steps.first_look import Scaling
from discreet.privacy import GDP
from discreet.rows import SecondMoment, Source

# Weights of the constant and the target: the squared norms that they add to a row, relative to x's.
_CONSTANT_LENGTH = LABEL_LENGTH = 0.5
# Rows are clipped at this multiple of their typical norm while the noise exceeds
# the sampling error ...
_RADIUS = 0.85
# ... and at more as the noise falls below this multiple of it.
_GROWTH = 0.24


def plan_moment(source: Source, cost: GDP, x_radius: float, known: Scaling) -> SecondMoment:
    """The query that balances noise against clipping loss, from public and
    already released numbers only.

    Scaling down far rows costs efficiency, clipping y costs bias; both are allowed only while
    the noise is larger. As the budget grows nothing is clipped inside the declared bounds,
    and the fit becomes OLS.
    """
    radius, y_bound = planned_clips(
        lambda radius, y_bound: source.noise_std(_moment_query(known, radius, y_bound), cost),
        len(known.x_centre),
        known.count,
    )
    return _moment_query(*_within_domain(known, radius, x_radius, y_bound))


def planned_clips(noise_std_of: Callable[[float, float], float], size: int, count: float) -> tuple[float, float]:
    """The clip norms of rows of this size, and of y in standard deviations, that balance noise
    against clipping loss; ``noise_std_of``: the noise of a release with such norms.
    """
    typical = _RADIUS * math.sqrt(size)
    # The noise variance of one coefficient, with x and y of variance 1, and its ratio to
    # the sampling variance.
    label_noise = 2.0**2 / (2 * LABEL_LENGTH * typical**2)
    noise_variance = noise_std_of(typical, 2.0) ** 2 * (label_noise + 0.5) / count**2
    growth = max(1.0, (_GROWTH / (noise_variance * count)) ** 0.25)
    # Clipping y at b standard deviations shrinks slopes by about 2 Phi(-b): keep
    # that far below the noise.
    bias_allowed = min(0.5, 0.05 * math.sqrt(size * noise_variance))
    return growth * typical, max(2.0 * growth, -1.25 * float(ndtri(bias_allowed)))


def _within_domain(known: Scaling, radius: float, x_radius: float, y_bound: float) -> tuple[Scaling, float, float]:
    """A clip beyond the declared domain is replaced by the domain itself, about its own centre."""
    if radius * known.x_scale >= x_radius:
        known = replace(known, x_centre=np.zeros_like(known.x_centre))
        radius = x_radius / known.x_scale
    if y_bound * known.y_scale >= 1:
        known = replace(known, y_centre=0.0)
        y_bound = 1 / known.y_scale
    return known, radius, y_bound


def _moment_query(known: Scaling, radius: float, y_bound: float) -> SecondMoment:
    return SecondMoment(
        x_centre=known.x_centre,
        x_scale=known.x_scale,
        x_radius=radius,
        y_centre=known.y_centre,
        y_scale=known.y_scale,
        y_bound=y_bound,
        weight_1=radius * math.sqrt(_CONSTANT_LENGTH),
        weight_y=radius * math.sqrt(LABEL_LENGTH) / y_bound,
    )

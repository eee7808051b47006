"""Planning the release of the second moment of (1, x, y): centring, scaling and clip norms."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from discreet.algorithms.steps.first_look import Scaling
from discreet.privacy import GDP
from discreet.rows import SecondMoment, Source

# Weights of the constant and the target: the squared norms that they add to a row, relative to x's.
_CONSTANT_LENGTH = _TARGET_LENGTH = 0.5
# Rows are clipped at this multiple of their typical norm while the noise exceeds
# the sampling error ...
_RADIUS = 0.85
# ... and at more as the noise falls below this multiple of it.
_GROWTH = 0.8


def plan_moment(source: Source, cost: GDP, x_radius: float, known: Scaling) -> SecondMoment:
    """The query that balances noise against clipping loss, from public and
    already released numbers only.

    Scaling down far rows costs efficiency, clipping y costs bias; both are allowed only while
    the noise is larger. As the budget grows nothing is clipped inside the declared bounds,
    and the fit becomes OLS.
    """
    width = len(known.x_centre)
    typical = _RADIUS * math.sqrt(width)
    noise_std = source.noise_std(_moment_query(known, typical, 2.0), cost)
    # The noise variance of one coefficient, with x and y of variance 1, and its ratio to
    # the sampling variance.
    target_noise = 2.0**2 / (2 * _TARGET_LENGTH * typical**2)
    noise_variance = noise_std**2 * (target_noise + 0.5) / known.count**2
    growth = max(1.0, (_GROWTH * 0.3 / (noise_variance * known.count)) ** 0.25)
    # Clipping y at b standard deviations shrinks slopes by about 2 Phi(-b): keep
    # that far below the noise.
    bias_allowed = min(0.5, 0.05 * math.sqrt(width * noise_variance))
    y_bound = max(2.0 * growth, -1.25 * float(ndtri(bias_allowed)))
    return _moment_query(*_within_domain(known, growth * typical, x_radius, y_bound))


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
        weight_y=radius * math.sqrt(_TARGET_LENGTH) / y_bound,
    )

"""Every linear question from one noisy second moment: a cheap first look to centre and scale, then one release."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from discreet.privacy import GDP, Budget
from discreet.rows import Answer, Floats, PowerSums, SecondMoment, Source

# What the first look costs, as a share of mu^2: at x and y, and at y alone where public rows show x.
FIRST_LOOK_SHARE = 0.12
LABEL_LOOK_SHARE = 0.04

# Weights of the constant and of the target beside x: the squared lengths that they add to a row, relative to x's.
_CONSTANT_LENGTH = _TARGET_LENGTH = 0.5
# Rows are shortened to this multiple of their typical norm while the noise is larger than the sampling error ...
_RADIUS = 0.85
# ... and left longer as the noise falls below this multiple of it.
_GROWTH = 0.8
# What is expected of an encoded column before looking: a variance of about a uniform distribution's third.
_PRIOR_VARIANCE = 0.11
_LEAST_VARIANCE = 0.003


@dataclass(frozen=True)
class XScaling:
    """Centre of each encoded feature and one scale for all, known from public rows or from a first look."""

    centre: Floats
    scale: float


@dataclass(frozen=True)
class Scaling:
    """All that the second moment needs to know beforehand: how many rows, and where x and y lie."""

    count: float
    x_centre: Floats
    x_scale: float
    y_centre: float
    y_scale: float


@dataclass(frozen=True)
class MomentRelease:
    """The released second moment of the row (weight_1, u, weight_y v), and the query that defines u and v."""

    query: SecondMoment
    answer: Answer


def release_moments(
    source: Source, budget: Budget, *, width: int, x_radius: float, known: XScaling | None = None
) -> MomentRelease:
    """The second moment of (1, x, y), released once; ``known`` is x's centre and scale where public rows tell them.

    Privacy: asks the source for two sums, whose costs together are the budget.
    """
    share = FIRST_LOOK_SHARE if known is None else LABEL_LOOK_SHARE
    first, second = budget.split([share, 1 - share])
    scaling = first_look(source, first, width, x_radius, known)
    query = plan_moment(source, second, x_radius, scaling)
    return MomentRelease(query, source.sum(query, second))


def first_look(source: Source, cost: GDP, width: int, x_radius: float, known: XScaling | None) -> Scaling:
    """Count, centres and one common scale of x, centre and scale of y; each trusted only as far as the noise allows."""
    query = PowerSums(width, x_radius, with_x=known is None)
    every = look_at_every(source, query, cost)
    answer = source.sum(query, cost, every=every)
    seen = query.read(answer.value, answer.noise_std)
    if known is None:
        x_centre = _shrunk(np.clip(seen.x, -1, 1), seen.noise_std)
        x_variance = (seen.x_square - float(x_centre @ x_centre)) / width
        known = XScaling(x_centre, math.sqrt(_trusted(x_variance, 2 * seen.noise_std * x_radius / width)))
    y_centre = float(_shrunk(np.clip(np.array([seen.y]), -1, 1), seen.noise_std)[0])
    # A scale that is too small clips y and biases slopes, one that is too large only adds noise: stay above by two
    # standard deviations of the noise in y^2 - (mean y)^2.
    variance_noise = seen.noise_std * math.sqrt(1 + 4 * seen.y**2)
    y_scale = math.sqrt(_trusted(seen.y_square - y_centre**2 + 2 * variance_noise, variance_noise))
    return Scaling(seen.count * every, known.centre, known.scale, y_centre, y_scale)


def look_at_every(source: Source, query: PowerSums, cost: GDP) -> int:
    """A first look needs no second pass over many rows: part of them, where their number is public, is as good.

    Enough is where the noise moves a mean by less than a thousandth of its range, and 2^18 rows at least.
    """
    if source.public_rows is None:
        return 1
    enough = max(2**18, 1000 * source.noise_std(query, cost))
    return max(1, int(source.public_rows / enough))


def plan_moment(source: Source, cost: GDP, x_radius: float, known: Scaling) -> SecondMoment:
    """The query that balances noise against what clipping loses, by public and already released numbers only.

    Shortening far rows costs efficiency, clipping y costs bias; both are allowed only while the noise outweighs them.
    With a budget that grows without end nothing is clipped inside the declared bounds, and the fit becomes OLS.
    """
    width = len(known.x_centre)
    typical = _RADIUS * math.sqrt(width)
    noise_std = source.noise_std(_moment_query(known, typical, 2.0), cost)
    # Noise variance of one coefficient, in units where x and y have variance 1, and its ratio to the sampling variance.
    target_noise = 2.0**2 / (2 * _TARGET_LENGTH * typical**2)
    noise_variance = noise_std**2 * (target_noise + 0.5) / known.count**2
    growth = max(1.0, (_GROWTH * 0.3 / (noise_variance * known.count)) ** 0.25)
    # Clipping y at b standard deviations shrinks slopes by about 2 Phi(-b): keep that far below the noise.
    bias_allowed = min(0.5, 0.05 * math.sqrt(width * noise_variance))
    y_bound = max(2.0 * growth, -1.25 * float(ndtri(bias_allowed)))
    return _moment_query(*_within_domain(known, growth * typical, x_radius, y_bound))


def _within_domain(known: Scaling, radius: float, x_radius: float, y_bound: float) -> tuple[Scaling, float, float]:
    """A clip that reaches beyond the declared domain is exchanged for the domain itself, about its own centre."""
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


def _shrunk(means: Floats, noise_std: float) -> Floats:
    """Each mean as far as it stands clear of the noise: a centre that is off costs more than none."""
    return means * np.maximum(0.0, 1 - (2 * noise_std) ** 2 / np.maximum(means**2, 1e-300))


def _trusted(seen: float, noise_std: float) -> float:
    trust = _PRIOR_VARIANCE**2 / (_PRIOR_VARIANCE**2 + noise_std**2)
    return max(trust * min(max(seen, 0.0), 1.0) + (1 - trust) * _PRIOR_VARIANCE, _LEAST_VARIANCE)

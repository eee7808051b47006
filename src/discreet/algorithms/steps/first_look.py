"""A cheap first look at the rows: how many, and where x and y lie."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.privacy import GDP
from discreet.rows import Floats, PowerSums, Source

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
    # The noise in the mean of y that the centre was made of, before that was drawn to 0.
    y_noise_std: float = 0.0
    # No less than so many rows, but for two standard deviations of the noise.
    least_count: float = 1.0


def first_look(source: Source, cost: GDP, width: int, x_radius: float, known: XScaling | None) -> Scaling:
    """Count, centres and one common scale of x, centre and scale of y; each trusted only as far as the noise allows."""
    query = PowerSums(width, x_radius, with_x=known is None)
    every = look_at_every(source, query, cost)
    answer = source.sum(query, cost, every=every)
    rows = None if source.public_rows is None else -(-source.public_rows // every)
    seen = query.read(answer.value, answer.noise_std, rows)
    if known is None:
        x_centre = _shrunk(np.clip(seen.x, -1, 1), seen.noise_std)
        x_variance = (seen.x_square - float(x_centre @ x_centre)) / width
        known = XScaling(x_centre, math.sqrt(_trusted(x_variance, 2 * seen.noise_std * x_radius / width)))
    y_centre = float(_shrunk(np.clip(np.array([seen.y]), -1, 1), seen.noise_std)[0])
    # A scale that is too small clips y and biases slopes, one that is too large only adds noise: stay above by two
    # standard deviations of the noise in y^2 - (mean y)^2.
    variance_noise = seen.noise_std * math.sqrt(1 + 4 * seen.y**2)
    y_scale = math.sqrt(_trusted(seen.y_square - y_centre**2 + 2 * variance_noise, variance_noise))
    count = seen.count * every
    least = count if rows is not None else max(1.0, count - 2 * answer.noise_std / query.count_weight)
    return Scaling(count, known.centre, known.scale, y_centre, y_scale, seen.noise_std, least)


def look_at_every(source: Source, query: PowerSums, cost: GDP) -> int:
    """A first look needs no second pass over many rows: part of them, where their number is public, is as good.

    Enough is where the noise moves a mean by less than a thousandth of its range, and 2^18 rows at least.
    """
    if source.public_rows is None:
        return 1
    enough = max(2**18, 1000 * source.noise_std(query, cost))
    return max(1, int(source.public_rows / enough))


def _shrunk(means: Floats, noise_std: float) -> Floats:
    """Each mean as far as it stands clear of the noise: a centre that is off costs more than none."""
    return means * np.maximum(0.0, 1 - (2 * noise_std) ** 2 / np.maximum(means**2, 1e-300))


def _trusted(seen: float, noise_std: float) -> float:
    trust = _PRIOR_VARIANCE**2 / (_PRIOR_VARIANCE**2 + noise_std**2)
    return max(trust * min(max(seen, 0.0), 1.0) + (1 - trust) * _PRIOR_VARIANCE, _LEAST_VARIANCE)

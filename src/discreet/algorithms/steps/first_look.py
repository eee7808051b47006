"""A cheap first look at the rows: their number, and the location and scale of x and y."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from discreet.privacy import GDP
from discreet.rows import Answer, Floats, PowerSums, Query, RowsUsed, Source

# The prior variance of an encoded column: a third of that of a uniform distribution.
_PRIOR_VARIANCE = 0.11
_LEAST_VARIANCE = 0.003
# The prior of a mean label: the middle of its range, with a standard deviation of
# half of the half-width.
_PRIOR_MEAN = 0.5
# Where the number of rows is private: its weight relative to y's in a look, and the weight and the
# smallest share of a look for it and y alone.
_LIGHT_COUNT, _COUNT_WEIGHT, _COUNT_SHARE = 0.5, 1.5, 0.5


@dataclass(frozen=True)
class XScaling:
    """The centre of each encoded feature and a common scale, from public rows or a first look."""

    centre: Floats
    scale: float


@dataclass(frozen=True)
class Scaling:
    """What the second moment needs: the number of rows, and location and scale of x and y."""

    count: float
    x_centre: Floats
    x_scale: float
    y_centre: float
    y_scale: float
    # The noise in the mean of y from which the centre was made, before shrinkage to 0.
    y_noise_std: float = 0.0
    # A lower bound on the number of rows, except for noise beyond two standard deviations.
    least_count: float = 1.0
    count_noise_std: float = 0.0
    # The noisy number of complete rows, as released: an unbiased estimate.
    seen_count: float = 0.0
    # The noisy means of y and y^2, as released.
    y_mean: float = 0.0
    y_square: float = 0.0
    # The noisy means of encoded features, as released, and their noise.
    x_mean: Floats = field(default_factory=lambda: np.zeros(0))
    x_noise_std: float = 0.0

    def used(self, rows: int | None) -> RowsUsed:
        """The number of rows that contributed; ``rows``: the number of all
        rows, if it is public.
        """
        return RowsUsed.seen(self.seen_count, self.count_noise_std, rows)


def power_sums(
    source: Source, width: int, x_radius: float, *, with_x: bool = True, count_weight: float = _LIGHT_COUNT
) -> PowerSums:
    """The query of a look; a private count has this weight, a public one is free."""
    if source.public_rows is not None:
        return PowerSums.counting(width, x_radius, with_x=with_x)
    return PowerSums(width, x_radius, with_x, count_weight=count_weight)


def first_look(source: Source, cost: GDP, width: int, x_radius: float, known: XScaling | None) -> Scaling:
    """Count, centres and one common scale of x, centre and scale of y; each
    shrunk according to its noise.

    Privacy: one sum, at ``cost``.
    """
    query = power_sums(source, width, x_radius, with_x=known is None)
    return _read(source, source.sum(query, cost), query, known)


def look_twice(
    source: Source, cost: GDP, width: int, x_radius: float, *, label_share: float, more: Sequence[tuple[Query, GDP]]
) -> tuple[Scaling, Sequence[Answer]]:
    """A first look, and one at y and the number of rows alone, which needs less noise.

    The second has ``label_share`` of the cost, and more if the number of rows is private:
    everything else will be divided by it. ``more``: other queries for the same pass over the rows.

    Privacy: two sums whose joint cost is ``cost``, and those of ``more``.
    """
    query = power_sums(source, width, x_radius)
    of_y = power_sums(source, width, x_radius, with_x=False, count_weight=_COUNT_WEIGHT)
    if source.public_rows is None:
        label_share = max(label_share, _COUNT_SHARE)
    costs = GDP(cost.mu * math.sqrt(label_share)), GDP(cost.mu * math.sqrt(1 - label_share))
    first, second, *rest = source.sums([(of_y, costs[0]), (query, costs[1]), *more])
    alone = _read(source, first, of_y, XScaling(np.zeros(width), 1.0))
    return _together(alone, _read(source, second, query, None)), rest


def look_at_labels(source: Source, cost: GDP, width: int, x_radius: float, seen: Scaling) -> Scaling:
    """One more look at y and the number of rows, combined with what was ``seen`` before.

    Privacy: one sum, at ``cost``.
    """
    query = power_sums(source, width, x_radius, with_x=False, count_weight=_COUNT_WEIGHT)
    return _together(_read(source, source.sum(query, cost), query, XScaling(np.zeros(width), 1.0)), seen)


def _read(source: Source, answer: Answer, query: PowerSums, known: XScaling | None) -> Scaling:
    width, x_radius, rows = query.width, query.x_radius, source.public_rows
    seen = query.read(answer.value, answer.noise_std, rows)
    if known is None:
        x_centre = _shrunk(np.clip(seen.x, -1, 1), seen.noise_std)
        x_variance = (seen.x_square - float(x_centre @ x_centre)) / width
        # With a scale that is far too small all rows are clipped, so what noise hides counts as
        # large as its noise.
        noise_std = 2 * seen.noise_std * x_radius / width
        known = XScaling(x_centre, math.sqrt(_trusted(max(x_variance, noise_std), noise_std)))
    y_centre = float(_shrunk(np.clip(np.array([seen.y]), -1, 1), seen.noise_std)[0])
    # A scale that is too small clips y and biases slopes; one that is too large only adds noise. So
    # it is taken two standard deviations of the noise in y^2 - (mean y)^2 too large.
    variance_noise = seen.noise_std * math.sqrt(1 + 4 * seen.y**2)
    y_scale = math.sqrt(_trusted(seen.y_square - y_centre**2 + 2 * variance_noise, variance_noise))
    count_noise_std = answer.noise_std / query.count_weight
    return Scaling(
        count=seen.count,
        x_centre=known.centre,
        x_scale=known.scale,
        y_centre=y_centre,
        y_scale=y_scale,
        y_noise_std=seen.noise_std,
        least_count=seen.count if rows is not None else max(1.0, seen.count - 2 * count_noise_std),
        count_noise_std=count_noise_std,
        seen_count=seen.seen_count,
        y_mean=seen.y,
        y_square=seen.y_square,
        x_mean=seen.x,
        x_noise_std=seen.noise_std,
    )


def _together(of_y: Scaling, of_both: Scaling) -> Scaling:
    """Two looks combined, weighted by their noise."""
    y_trust, y_noise_std = _trust(of_y.y_noise_std, of_both.y_noise_std)
    count_trust, count_noise_std = _trust(of_y.count_noise_std, of_both.count_noise_std)
    y_mean = y_trust * of_y.y_mean + (1 - y_trust) * of_both.y_mean
    y_square = y_trust * of_y.y_square + (1 - y_trust) * of_both.y_square
    count = count_trust * of_y.count + (1 - count_trust) * of_both.count
    # The prior of a mean is the middle of its range.
    y_centre = min(max(y_mean, -1.0), 1.0) * _PRIOR_MEAN**2 / (_PRIOR_MEAN**2 + y_noise_std**2)
    variance_noise = y_noise_std * math.sqrt(1 + 4 * min(y_mean**2, 1.0))
    y_variance = _trusted(y_square - y_centre**2 + 2 * variance_noise, variance_noise)
    return replace(
        of_both,
        count=count,
        y_centre=y_centre,
        y_scale=math.sqrt(y_variance),
        y_noise_std=y_noise_std,
        least_count=max(1.0, count - count_noise_std),
        count_noise_std=count_noise_std,
        seen_count=count_trust * of_y.seen_count + (1 - count_trust) * of_both.seen_count,
        y_mean=y_mean,
        y_square=y_square,
    )


def _trust(one: float, other: float) -> tuple[float, float]:
    """The weight of the first of two noisy numbers in their best mean, and the
    noise of that mean.
    """
    trust = other**2 / (one**2 + other**2) if one > 0 else 0.5
    return trust, math.sqrt(trust) * one


def _shrunk(means: Floats, noise_std: float) -> Floats:
    """Each mean, shrunk by its noise: a wrong centre costs more than none."""
    return means * np.maximum(0.0, 1 - (2 * noise_std) ** 2 / np.maximum(means**2, 1e-300))


def _trusted(seen: float, noise_std: float) -> float:
    trust = _PRIOR_VARIANCE**2 / (_PRIOR_VARIANCE**2 + noise_std**2)
    return max(trust * min(max(seen, 0.0), 1.0) + (1 - trust) * _PRIOR_VARIANCE, _LEAST_VARIANCE)

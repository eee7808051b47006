"""Whitening the rows by rounds of noisy second moments, and a first linear fit that comes with the last of them.

One round sees only directions whose variance exceeds its noise. Stretching those makes the next round's noise smaller
relative to the others, so that a few rounds reach what one never would (as in CoinPress, for covariances).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.coordinates import Coordinates, blended
from discreet.glm import NoisyQuadratic
from discreet.privacy import GDP
from discreet.rows import Floats, Labels, LinearMap, MappedMoment, Source

# Labels are cut this many of their standard deviations from their mean, and weigh this much beside z.
_LABEL_BOUND = 2.5
_LABEL_LENGTH = 0.5
# Directions whose second moments are this many times the edge of the noise's eigenvalues are known well enough.
_FAR_OUT = 6.0
# A direction with less than this part of the mean moment is looked at again once it is stretched.
_STRETCH = 0.25
# The mean weight of rows that are shortened to about their typical length.
_TYPICAL_WEIGHT = 0.8


@dataclass(frozen=True, eq=False)
class LinearStart:
    """White coordinates, and the least squares fit of the label in them: mean + scale * (phi^T z), up to noise."""

    coordinates: Coordinates
    phi: Floats
    residual_variance: float
    # How many rounds it took.
    rounds: int
    # The last noisy second moment, in these coordinates, and the noise in an entry of it.
    moment: Floats
    noise_std: float


@dataclass(frozen=True)
class LabelScale:
    """Where labels lie, in the user's units."""

    labels: Labels
    centre: float
    scale: float
    # The noise in the centre.
    noise_std: float = 0.0


def whiten(
    source: Source, cost: GDP, rounds: int, start: Coordinates, label: LabelScale, radius: float, count: float
) -> LinearStart:
    """``rounds`` noisy second moments at most, each in the coordinates that the one before found.

    No more are asked for once all directions stand far out of the noise.

    Privacy: asks the source for up to as many sums, each at ``cost`` / rounds of mu^2.
    """
    coordinates, expected = start, None
    each = GDP(cost.mu / math.sqrt(rounds))
    for number in range(1, rounds + 1):
        query = MappedMoment(
            map=LinearMap(coordinates.matrix),
            labels=label.labels,
            y_centre=label.centre,
            y_scale=label.scale,
            y_bound=_LABEL_BOUND,
            y_weight=radius * math.sqrt(_LABEL_LENGTH) / _LABEL_BOUND,
            radius=radius,
        )
        answer = source.sum(query, each)
        moment, noise_std = answer.value / count, answer.noise_std / count
        if coordinates.constant:
            moment[0, 0] = blended(float(moment[0, 0]), noise_std, _TYPICAL_WEIGHT)
        white = coordinates.whitened(moment[:-1, :-1], noise_std, expected)
        if number == rounds or white.taken_back or _known(moment[:-1, :-1], noise_std):
            phi, residual_variance = _regress(moment, noise_std, coordinates, query.y_weight)
            new = white.coordinates
            seen, seen_noise = _carried(moment[:-1, :-1], noise_std, coordinates, new)
            there = new.phi(coordinates.coefficients(phi))
            return LinearStart(new, there, residual_variance, number, seen, seen_noise)
        coordinates, expected = white.coordinates, white.expected
    raise AssertionError("the last round returns")


def _known(moment: Floats, noise_std: float) -> bool:
    """Whether no direction needs another look: all stand far out of the noise, and none needs a long stretch."""
    values = np.linalg.eigvalsh(moment)
    far_out = float(values[0]) > _FAR_OUT * math.sqrt(2 * len(values)) * noise_std
    return bool(far_out and float(values[0]) > _STRETCH * float(np.mean(values)))


def _carried(moment: Floats, noise_std: float, here: Coordinates, there: Coordinates) -> tuple[Floats, float]:
    """A noisy moment in other coordinates, and its noise there: that of the coordinate where it is largest."""
    turn = there.matrix @ np.linalg.pinv(here.matrix)
    first = int(here.constant)
    slopes = turn[first:, first:]
    stretch = float(np.linalg.norm(slopes, 2)) ** 2 if slopes.size else 1.0
    return np.asarray(turn @ moment @ turn.T), noise_std * max(stretch, 1.0)


def _regress(moment: Floats, noise_std: float, coordinates: Coordinates, y_weight: float) -> tuple[Floats, float]:
    size = coordinates.size
    features = np.hstack([np.eye(size), np.zeros((size, 1))])
    target = np.zeros(size + 1)
    target[-1] = 1 / y_weight
    moment = moment.copy()
    if coordinates.constant:  # as the weight of all rows, it cannot be smaller than noise makes of nothing
        moment[0, 0] = max(moment[0, 0], 1.5 * math.sqrt(2 * size) * noise_std)
    penalised = np.arange(size) >= int(coordinates.constant)
    weight = float(moment[0, 0]) if coordinates.constant else 1.0
    solution = NoisyQuadratic(moment, noise_std, features, penalised, target, np.zeros(size), weight).solve()
    return solution.coef, float(np.clip(solution.residual_variance, 1e-3, 1.5))

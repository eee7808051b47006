"""Whitening the rows by rounds of noisy second moments, and a linear fit from the last of them.

One round shows only directions whose variance exceeds its noise. Stretching the others reduces
the noise relative to them in the next round, so a few rounds reach what one cannot (as
CoinPress does for covariances).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.algorithms.steps.columns import hidden
from discreet.algorithms.steps.coordinates import Coordinates, blended, least_moment
from discreet.algorithms.steps.rare import RareColumns
from discreet.glm import NoisyQuadratic
from discreet.privacy import GDP
from discreet.rows import Answer, Floats, Labels, LinearMap, MappedMoment, Query, Source
from discreet.rows.class_scores import ClassMoment, farthest_class

# Labels are clipped at this many standard deviations from their mean, and have this
# squared norm relative to z.
_LABEL_BOUND = 2.5
_LABEL_LENGTH = 0.5
# Directions whose second moments are this many times the edge of the noise's eigenvalues
# are known well enough.
_FAR_OUT = 6.0
# A direction with less than this part of the mean moment is measured again after stretching.
_STRETCH = 0.25
# The most rounds if noise hides a direction. With 10 columns, 20,000 rows and epsilon 1, two rounds
# show variances down to 4 thousandths of the mean one, three to .3 thousandths.
_MOST_ROUNDS = 3
# The mean weight of rows that are scaled down to about their typical length.
_TYPICAL_WEIGHT = 0.8
# Rounds beyond the planned ones, while noise hides all of a column's variance. One pays if it
# multiplies the moments of hidden directions by this.
_MORE_ROUNDS, _WORTH = 2, 4.0


@dataclass(frozen=True, eq=False)
class Whitening:
    """White coordinates, and the last noisy second moment of (z, labels), in the
    previous coordinates (``here``).
    """

    coordinates: Coordinates
    here: Coordinates
    joint: Floats
    joint_noise_std: float
    # The number of rounds used, and their part of the planned cost.
    rounds: int
    spent: float
    # The moment of z alone in the white coordinates, and the noise in its entries.
    moment: Floats
    noise_std: float
    # The indicators of rare categories.
    rare: RareColumns | None = None

    def cross(self) -> tuple[Floats, float]:
        """The moments of white z with the labels, divided by the rows' mean
        weight, and a typical noise.
        """
        size = self.here.size
        mass = float(self.joint[0, 0]) if self.here.constant else 1.0
        turn = self.coordinates.matrix @ np.linalg.pinv(self.here.matrix)
        noise_std = self.joint_noise_std * math.sqrt(float(np.mean(turn**2)) * size / 2)
        return turn @ self.joint[:size, size:] / mass, noise_std / mass


@dataclass(frozen=True, eq=False)
class LinearStart:
    """The least-squares fit of the label in white coordinates: mean +
    scale * (phi^T z), up to noise.
    """

    white: Whitening
    phi: Floats
    residual_variance: float
    # The noise in an entry of phi, if rows are white.
    noise_std: float


@dataclass(frozen=True)
class LabelScale:
    """Location and scale of labels, in the user's units."""

    labels: Labels
    centre: float
    scale: float
    # The noise in the centre.
    noise_std: float = 0.0
    # Whether noise hides the scale, which is then far too large.
    hidden: bool = False


def whiten(
    source: Source,
    cost: GDP,
    rounds: int,
    start: Coordinates,
    question: Callable[[LinearMap], Query],
    count: float,
    radius: float,
    spread_out: Floats | None,
    rare: RareColumns | None,
    typical: bool = False,
) -> Whitening:
    """About ``rounds`` noisy second moments, each in the coordinates found by the previous one.

    Rounds stop once all directions are far above the noise. A third one follows two if noise hid a
    direction in the second, and up to two more follow if a column may be so narrow within its
    bounds that noise hides its variance. ``question``: the second moment of z and the labels, for a
    map to z; it clips rows at ``radius``. ``spread_out``: for each column, the evidence of a
    histogram that it is not narrow; without it there are no more rounds than planned. ``rare``: the
    columns that may be indicators of rare categories. Nor are there more if noise hides one of
    these: they would be stretched until their few rows are long and clipped.
    ``typical``: whether directions that noise hides count as typical.

    Privacy: up to ``rounds`` + 2 sums, each at ``cost`` / rounds of mu^2, or half of the cost for
    those beyond one round.
    """
    here, expected, spent, size = start, None, 0.0, start.size
    for number in range(1, rounds + _MORE_ROUNDS + 1):
        part = 1 / rounds if number <= rounds else 1 / max(rounds, 2)
        answer = source.sum(question(LinearMap(here.matrix)), GDP(cost.mu * math.sqrt(part)))
        spent += part
        joint, noise_std = answer.value / count, answer.noise_std / count
        if here.constant:
            joint[0, 0] = blended(float(joint[0, 0]), noise_std, _TYPICAL_WEIGHT)
        moment = joint[:size, :size]
        if number == 1 and rare is not None:
            rare = rare.confirmed(here, moment, radius)
        whole = moment if rare is None else rare.restored(here, moment)
        white = here.whitened(whole, noise_std, expected, typical)
        most = _most_rounds(rounds, here, moment, noise_std, spread_out, rare)
        if number >= most or white.taken_back or _known(moment, noise_std):
            carried = _carried(moment, noise_std, here, white.coordinates)
            return Whitening(white.coordinates, here, joint, noise_std, number, spent, *carried, rare)
        here, expected = white.coordinates, white.expected
    raise AssertionError("the last round returns")


def whiten_labels(
    source: Source,
    cost: GDP,
    rounds: int,
    start: Coordinates,
    label: LabelScale,
    radius: float,
    count: float,
    spread_out: Floats | None = None,
    rare: RareColumns | None = None,
    typical: bool = False,
) -> LinearStart:
    """White coordinates and a linear fit of labels in them.

    Privacy: as ``whiten``.
    """
    y_weight = radius * math.sqrt(_LABEL_LENGTH) / _LABEL_BOUND

    def question(linear_map: LinearMap) -> Query:
        return MappedMoment(
            map=linear_map,
            labels=label.labels,
            y_centre=label.centre,
            y_scale=label.scale,
            y_bound=_LABEL_BOUND,
            y_weight=y_weight,
            radius=radius,
        )

    white = whiten(source, cost, rounds, start, question, count, radius, spread_out, rare, typical)
    phi, residual_variance = _regress(white.joint, white.joint_noise_std, white.here, y_weight)
    noise_std = white.cross()[1] / y_weight
    return LinearStart(white, white.coordinates.phi(white.here.coefficients(phi)), residual_variance, noise_std)


def whiten_classes(
    source: Source,
    cost: GDP,
    rounds: int,
    start: Coordinates,
    shares: ClassShares,
    radius: float,
    count: float,
    spread_out: Floats | None,
    rare: RareColumns | None,
) -> tuple[Whitening, Floats, float]:
    """White coordinates, the mean of z (e_y - shares)^T in them (a column
    per class), and its noise.

    Privacy: as ``whiten``.
    """
    weight = radius * math.sqrt(_LABEL_LENGTH) / farthest_class(shares.parts)

    def question(linear_map: LinearMap) -> Query:
        return ClassMoment(linear_map, shares.labels, shares.parts, weight, radius)

    white = whiten(source, cost, rounds, start, question, count, radius, spread_out, rare)
    cross, noise_std = white.cross()
    return white, cross / weight, noise_std / weight


@dataclass(frozen=True, eq=False)
class ClassShares:
    """The share of rows in each class, none below what noise alone could produce."""

    labels: Labels
    parts: Floats
    # The squared noise in the logarithm of a share, for the rarest class.
    variance: float

    @classmethod
    def read(cls, labels: Labels, answer: Answer) -> ClassShares:
        """From the noisy numbers of rows in each class."""
        counts = np.maximum(answer.value[:, 0], max(answer.noise_std, 1.0))
        return cls(labels, counts / np.sum(counts), (answer.noise_std / float(np.min(counts))) ** 2)


def _most_rounds(
    rounds: int,
    here: Coordinates,
    moment: Floats,
    noise_std: float,
    spread_out: Floats | None,
    rare: RareColumns | None,
) -> int:
    """How many rounds there may be, after one with this moment."""
    if spread_out is None:
        return rounds
    if rare is not None and np.any(rare.mostly_constant[list(hidden(here, moment, noise_std))]):
        return rounds
    narrow = hidden(here, moment, noise_std, spread_out)
    if rare is not None:
        narrow = tuple(np.setdiff1d(narrow, np.flatnonzero(rare.is_declared)).tolist())
    if _WORTH * least_moment(len(moment), noise_std) < 1 and narrow:
        return rounds + _MORE_ROUNDS
    # With one round, noise hides most directions, and another would not help.
    return max(rounds, _MOST_ROUNDS) if rounds > 1 and _hides(moment, noise_std) else rounds


def _known(moment: Floats, noise_std: float) -> bool:
    """Whether no direction needs another round: all are far above the noise, and
    none needs a long stretch.
    """
    values = np.linalg.eigvalsh(moment)
    far_out = float(values[0]) > _FAR_OUT * math.sqrt(2 * len(values)) * noise_std
    return bool(far_out and float(values[0]) > _STRETCH * float(np.mean(values)))


def _hides(moment: Floats, noise_std: float) -> bool:
    """Whether noise hides a direction, which is then stretched no further than the noise allows."""
    values = np.linalg.eigvalsh(moment)
    return float(values[0]) < math.sqrt(2 * len(values)) * noise_std


def _carried(moment: Floats, noise_std: float, here: Coordinates, there: Coordinates) -> tuple[Floats, float]:
    """A noisy moment in other coordinates, and its noise there, for the
    coordinate where it is largest.
    """
    turn = there.matrix @ np.linalg.pinv(here.matrix)
    first = int(here.constant)
    slopes = turn[first:, first:]
    stretch = float(np.linalg.norm(slopes, 2)) ** 2 if slopes.size else 1.0
    return np.asarray(turn @ moment @ turn.T), noise_std * max(stretch, 1.0)


def _regress(moment: Floats, noise_std: float, coordinates: Coordinates, y_weight: float) -> tuple[Floats, float]:
    weight = None if coordinates.constant else 1.0
    solution = NoisyQuadratic.of_label(moment, noise_std, coordinates.constant, y_weight, weight).solve()
    return solution.coef, float(np.clip(solution.residual_variance, 1e-3, 1.5))

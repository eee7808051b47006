"""Queries of a descent: sums of weighted rows, their second moments, and histograms of their sizes.

All apply a linear map to a row: its first output is the linear predictor eta, the others are
coordinates z in which rows have about equal variance in every direction. Models differ in a
function of (label, eta, |z|).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.rows.histograms import Histogram, cell_of, one_hot
from discreet.rows.laws import Rule
from discreet.rows.linear_map import LinearMap, with_offset
from discreet.rows.look import look
from discreet.rows.query import Block, Floats, Geometry, OneCell, WeightedRows, ones
from discreet.rows.scores import BoundedFunction, Labels

# Elementwise in labels, eta and the length of z.
RowFunction = Callable[[Floats, Floats, Floats], Floats]


def _rule(function: RowFunction) -> Rule | None:
    """The function as a rule, where it is one that loops may know."""
    return function if isinstance(function, Rule) else None


def _asked(query: object, block: Block) -> Floats | None:
    """What a query asks of each row, where a loop has computed it already."""
    return None if look.block is not block or look.found is None else look.found.get(("asked", id(query)))


def _positive(length: Floats) -> Floats:
    # np.maximum takes three times as long.
    return np.asarray(np.clip(length, 1e-100, np.inf))


@dataclass(frozen=True, eq=False)
class GradientSum:
    """The sum of weight z; a row's contribution is clipped to norm ``clip`` whatever the weight.

    Privacy: contributions of two rows may be opposite, so a replaced row moves the sum by at most 2
    clip, an added one by clip (rows/mapped.py has the proof for the grid).
    """

    map: LinearMap
    labels: Labels
    weight: RowFunction
    clip: float
    # A typical length of z, to within many powers of two: it only sets the grid.
    radius: float
    label: str = "gradient"
    geometry: Geometry = "mapped"
    right_norm: float = 1.0

    @property
    def rule(self) -> Rule | None:
        return _rule(self.weight)

    @property
    def left_norm(self) -> float:
        return self.clip

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs - 1, 1

    def weights(self, block: Block, eta: Floats, length: Floats) -> Floats:
        return self.weight(self.labels.of(block), eta, _positive(length))

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        mapped, length = self.map.with_norms(block, skipped=1)
        return mapped[1:], self.weights(block, with_offset(mapped[0], block), length)[np.newaxis]


def score_sum(linear_map: LinearMap, labels: Labels, score: BoundedFunction, radius: float, clip: float) -> GradientSum:
    """The sum of score z, with rows beyond the radius scaled down; the score gets the bound with
    which a row's contribution stays within ``clip``.
    """

    def weight(y: Floats, eta: Floats, length: Floats) -> Floats:
        shrink = radius / np.maximum(length, radius)
        return np.asarray(shrink * score(y, eta, clip / np.maximum(length * shrink, 1e-100)))

    return GradientSum(linear_map, labels, weight, clip, radius)


@dataclass(frozen=True, eq=False)
class WeightedMoment(WeightedRows):
    """The second moment of weight z, each row clipped to norm ``clip``.

    Privacy: a sum of squares w w^T with |w| <= clip, so a replaced row moves it
    by at most sqrt(2) clip^2.
    """

    map: LinearMap
    labels: Labels
    weight: RowFunction
    clip: float
    label: str = "curvature"
    geometry: Geometry = "square"
    # Whether a row's sample weight multiplies the weighted row rather than its
    # square (rows/weighted.py).
    weighs_squares: bool = False

    @property
    def rule(self) -> Rule | None:
        return _rule(self.weight)

    @property
    def left_norm(self) -> float:
        return self.clip

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs - 1, self.map.outputs - 1

    def weighted_rows(self, block: Block) -> tuple[Floats, Floats, None]:
        mapped, length = self.map.seen(block)
        weight = self.weight(self.labels.of(block), with_offset(mapped[0], block), _positive(length))
        return mapped[1:], weight * (self.clip / np.clip(np.abs(weight) * length, self.clip, np.inf)), None


@dataclass(frozen=True, eq=False)
class SizeHistogram(Histogram):
    """The number of rows with a size in each cell."""

    map: LinearMap
    labels: Labels
    size: RowFunction
    edges: Floats
    label: str = "sizes of scores"

    @property
    def rule(self) -> Rule | None:
        return _rule(self.size)

    def numbers(self, block: Block) -> Floats:
        if (known := _asked(self, block)) is not None:
            return known
        eta, length = self.map.predictor_and_length(block)
        return self.size(self.labels.of(block), eta, _positive(length))


@dataclass(frozen=True, eq=False)
class LabelProfile(OneCell):
    """Exposures (or counts) and sums of labels, by the position of rows along one direction.

    Positions are in cells of ``edges``. Labels are clipped to [low, high] and measured from low, in
    units of the range; exposures in units of the largest.

    Privacy: a row is in one cell, with two numbers between 0 and 1, so its norm is at most sqrt(2)
    and a replaced one moves the answer by at most 2.
    """

    map: LinearMap
    labels: Labels
    edges: Floats
    low: float
    high: float
    largest_exposure: float = 1.0
    label: str = "labels along a direction"
    geometry: Geometry = "nonnegative"
    left_norm: float = 1.0
    right_norm: float = math.sqrt(2)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.edges) + 1, 2

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        cells = np.empty((self.shape[0], block.records))
        one_hot(self.map.apply(block)[0], self.edges, cells)
        return cells, self._numbers(block)

    def cell_and_numbers(self, block: Block) -> tuple[NDArray[np.int64], Floats]:
        return cell_of(self.map.apply(block)[0], self.edges)[0], self._numbers(block)

    def _numbers(self, block: Block) -> Floats:
        numbers = np.ones((2, block.records))
        if block.offset is not None:
            numbers[0] = np.minimum(np.exp(block.offset) / self.largest_exposure, 1.0)
        numbers[1] = (np.clip(self.labels.of(block), self.low, self.high) - self.low) / (self.high - self.low)
        return numbers


@dataclass(frozen=True, eq=False)
class BoundedSum:
    """The sum of one number per row in [0, bound], each minus bound / 2: add
    bound / 2 per row to undo it.

    Privacy: a number is at most bound / 2 from the middle, so a replaced row
    moves the sum by ``bound``.
    """

    map: LinearMap
    labels: Labels
    value: RowFunction
    bound: float
    label: str = "dispersion"
    geometry: Geometry = "free"
    shape: tuple[int, int] = (1, 1)
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return self.bound / 2

    @property
    def rule(self) -> Rule | None:
        return _rule(self.value)

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        if (value := _asked(self, block)) is None:
            eta, length = self.map.predictor_and_length(block)
            value = self.value(self.labels.of(block), eta, _positive(length))
        middled = np.clip(value, -np.inf, self.bound) - self.bound / 2
        return middled[np.newaxis], ones(block.records)

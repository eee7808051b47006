"""Queries of PMT and COST: a row is truncated first, and everything is
computed from the truncated row.

``score_sum`` (rows/gradient.py) computes the linear predictor before a far row is scaled down,
which biases no coefficient. The papers truncate first. Where nothing is truncated the two agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.rows.kernels import column_norms, scratch
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats, Geometry
from discreet.rows.scores import Labels, coordinates_of

Score = Callable[[Floats, Floats], Floats]
Weight = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class TruncatedScores:
    """The sum of score(y, eta) z, with |z| <= radius and |score| <= bound: a row
    adds at most radius * bound.
    """

    map: LinearMap
    labels: Labels
    score: Score
    radius: float
    bound: float
    label: str = "gradient"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return self.radius * self.bound

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs - 1, 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        eta, z = _truncated(self.map, block, self.radius)
        z *= np.clip(self.score(self.labels.of(block), eta), -self.bound, self.bound)
        return z, np.ones((1, block.records))


@dataclass(frozen=True, eq=False)
class TruncatedInformation:
    """The sum of weight(eta) z z^T, with |z| <= radius and weight <= bound; noise
    as printed, or isotropic.
    """

    map: LinearMap
    weight: Weight
    radius: float
    bound: float
    label: str = "information"
    geometry: Geometry = "printed_square"

    @property
    def left_norm(self) -> float:
        return self.radius * math.sqrt(self.bound)

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs - 1, self.map.outputs - 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        eta, z = _truncated(self.map, block, self.radius)
        # A missing label drops the row from the gradient, so it must be dropped here.
        z *= np.sqrt(np.clip(self.weight(eta), 0.0, self.bound)) + 0 * block.y
        return z, z


@dataclass(frozen=True, eq=False)
class TruncatedMoment:
    """The sum of z z^T of truncated rows, without labels: PMT's private second moment."""

    map: LinearMap
    radius: float
    label: str = "second moment"
    geometry: Geometry = "square"

    @property
    def left_norm(self) -> float:
        return self.radius

    right_norm = left_norm

    @property
    def shape(self) -> tuple[int, int]:
        return self.map.outputs, self.map.outputs

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        row = scratch("factor", (self.map.outputs, block.records))
        z = self.map.apply(block)
        np.multiply(z, self.radius / np.maximum(column_norms(z), self.radius), out=row)
        return row, row


def _truncated(linear_map: LinearMap, block: Block, radius: float) -> tuple[Floats, Floats]:
    """The predictor of the truncated row (with its full offset), and the row."""
    mapped = linear_map.apply(block)
    mapped *= radius / np.maximum(column_norms(mapped[1:]), radius)
    eta = mapped[0] if block.offset is None else mapped[0] + block.offset
    return eta, mapped[1:]


@dataclass(frozen=True, eq=False)
class ShortenedInformation(TruncatedInformation):
    """The same, with far rows scaled down after eta is computed, and isotropic noise."""

    geometry: Geometry = "square"

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        eta, z, shrink, _ = coordinates_of(self.map, block, self.radius)
        z *= shrink * np.sqrt(np.clip(self.weight(eta), 0.0, self.bound)) + 0 * block.y
        return z, z


@dataclass(frozen=True)
class RowCount:
    """The number of rows."""

    label: str = "count"
    geometry: Geometry = "nonnegative"
    shape: tuple[int, int] = (1, 1)
    left_norm: float = 1.0
    right_norm: float = 1.0

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        return np.ones((1, block.records)), np.ones((1, block.records))

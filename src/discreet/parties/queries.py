"""The queries of a party's release: first answers about its columns, and the mixes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.parties.signs import signs
from discreet.rows import Block, Floats, Geometry, column_norms, scratch


@dataclass(frozen=True)
class ColumnSums:
    """The number of complete rows and each column's sum, weighted so that the likely label gets the
    least noise.
    """

    weights: Floats
    right_norm: float
    count_weight: float
    label: str = "column sums"
    geometry: Geometry = "free"
    left_norm: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return 1, 1 + len(self.weights)

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        right = scratch("factor", (self.shape[1], block.records))
        block.write_x(right[1:])
        right[1:] *= self.weights[:, np.newaxis]
        right[0] = self.count_weight
        return np.ones((1, block.records)), right


@dataclass(frozen=True)
class Spread:
    """The second moment of a party's own columns about their centre."""

    centre: Floats
    radius: float
    label: str = "second moment of the party's own columns"
    geometry: Geometry = "square"

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.centre), len(self.centre)

    @property
    def left_norm(self) -> float:
        return self.radius

    right_norm = left_norm

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        row = scratch("factor", (self.shape[0], block.records))
        block.write_x(row)
        row -= self.centre[:, np.newaxis]
        return row, row


@dataclass(frozen=True)
class Kept:
    """Sums of w u_i^2 with u = (x - centre) * per_unit, w = min(1, radius / |u|): what clipping
    leaves.

    The mixes hold w u. Their moment with another party's column that depends linearly on u contains
    E[w u_i^2] instead of E[u_i^2]. The entries are nonnegative and their vector is no longer than w
    |u|^2 = radius |u|, which is cut at ``reach`` radii.
    """

    centre: Floats
    per_unit: Floats
    radius: float
    reach: float = 2.0
    label: str = "what shortening leaves"
    geometry: Geometry = "nonnegative"
    left_norm: float = 1.0

    @property
    def shape(self) -> tuple[int, int]:
        return 1, len(self.centre)

    @property
    def right_norm(self) -> float:
        return self.reach * self.radius**2

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        right = scratch("factor", (self.shape[1], block.records))
        block.write_x(right)
        right -= self.centre[:, np.newaxis]
        right *= self.per_unit[:, np.newaxis]
        shorter = self.radius / np.maximum(column_norms(right), self.radius)
        np.multiply(right, right, out=right)
        right *= shorter
        return np.ones((1, block.records)), right


@dataclass(frozen=True)
class Mixes:
    """Sums of +-(x - centre) * per_unit, with each person's own public signs, one row per mix
    (RMGM).

    The curator clips rows to ``radius``. One person's contribution is b u^T with |b| = sqrt(mixes)
    and |u| <= radius.
    """

    mixes: int
    centre: Floats
    per_unit: Floats
    radius: float
    label: str = "mixes"
    geometry: Geometry = "signs"

    @property
    def shape(self) -> tuple[int, int]:
        return self.mixes, len(self.centre)

    @property
    def left_norm(self) -> float:
        return math.sqrt(self.mixes)

    @property
    def right_norm(self) -> float:
        return self.radius

    def factors(self, block: Any) -> tuple[Any, Floats]:
        right = scratch("factor", (self.shape[1], block.records))
        block.write_x(right)
        right -= self.centre[:, np.newaxis]
        right *= self.per_unit[:, np.newaxis]
        return signs(block.states, self.mixes), right

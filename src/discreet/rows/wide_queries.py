"""Queries of sparse models about wide rows: the spread of cells and labels, and columns' scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats, Geometry, SummedRows
from discreet.rows.ranking import Indices, Sides, WideBlock, no_columns
from discreet.rows.scores import Labels

# Elementwise: the derivative in eta of a row's loss, from its label and eta.
Score = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class WideLook(SummedRows):
    """Sums of 1, y, y^2 and of the mean square of some columns' cells: four
    numbers, so cheap at any width.

    Squares are summed about the middle of their range, so the row (1/2, y, y^2 - 1/2, m - 1/2) has
    the squared norm 1/4 + (y^4 + 1/4) + 1/4 at most, with y and m in [-1, 1] and [0, 1]: 7/4.

    Where the number of rows is public ("counted", rows/query.py), y^2 is summed about 1, where
    y^2 + (y^2 - 1)^2 = 1 - y^2 (1 - y^2) is at most 1. So (y, y^2 - 1, m - 1/2) has at most 5/4,
    and the number of rows with a label costs nothing up to the weight sqrt(15/4).
    """

    width: int
    label: str = "first look"
    geometry: Geometry = "free"
    shape: tuple[int, int] = (1, 4)
    left_norm: float = 1.0
    right_norm: float = math.sqrt(1.75)
    count_weight: float = 0.5
    middle: float = 0.5

    @classmethod
    def counting(cls, width: int) -> WideLook:
        """The query for a public number of rows, with the largest power of two as a free weight."""
        return cls(width, geometry="counted", right_norm=math.sqrt(1.25), count_weight=1.0, middle=1.0)

    def summed_rows(self, block: Block) -> tuple[Floats, Floats]:
        cells = np.empty((self.width, block.records))
        block.write_x(cells)
        # A missing cell counts as the middle. Columns are added in order: a row's value
        # depends on that row only.
        square = np.zeros(block.records)
        for column in np.nan_to_num(cells, nan=0.0):
            square += column * column
        right = np.empty((4, block.records))
        right[0] = self.count_weight
        right[1] = block.y
        right[2] = right[1] * right[1] - self.middle
        right[3] = square / self.width - 0.5
        return right, right[:0]


@dataclass(frozen=True, eq=False)
class ResidualRanking:
    """Ranks columns by their association with the residual -score(y, eta), eta from
    the columns fitted so far.
    """

    width: int
    map: LinearMap
    columns: Indices
    labels: Labels
    score: Score
    weight_bound: float
    cell_bound: float
    label: str = "selection"
    sides: Sides = "absolute"
    offset: Floats | None = None
    excluded: Indices = field(default_factory=no_columns)

    def weights(self, block: WideBlock) -> Floats:
        eta = self.map.apply(block.take(self.columns))[0]
        return np.asarray(-self.score(self.labels.of(block), eta))

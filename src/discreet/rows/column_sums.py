"""Weighted sums of a wide table's columns: which are largest, and the values of the chosen ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from discreet.rows.query import Block, Floats, Geometry
from discreet.rows.ranking import Indices, Sides, WideBlock, no_columns


@dataclass(frozen=True, eq=False)
class LargestSums:
    """Ranks columns by |sum of weight times cell|, both encoded in [-1, 1]; the
    weight is the block's label.

    Privacy: a row adds at most 1 in absolute value to a column's sum, so a replaced row moves each
    column's sum by at most 2, an added one by at most 1 (rows/ranking.py has the proof on the
    grid). That is the condition of Lemma 2 in COST, with lambda = 2 times the largest contribution.
    """

    width: int
    label: str = "selection"
    sides: Sides = "absolute"
    weight_bound: float = 1.0
    cell_bound: float = 1.0
    offset: Floats | None = None
    excluded: Indices = field(default_factory=no_columns)

    def weights(self, block: WideBlock) -> Floats:
        return block.y


@dataclass(frozen=True, eq=False)
class ChosenSums:
    """The sums of some columns, weighted the same way.

    Privacy: cells and weights are in [-1, 1], so the norm of a row's ``size`` numbers is at most
    sqrt(size), and a replaced row moves the sum by at most twice that in the Euclidean norm.
    """

    size: int
    label: str = "sums of chosen columns"
    geometry: Geometry = "free"
    right_norm: float = 1.0

    @property
    def left_norm(self) -> float:
        return math.sqrt(self.size)

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, 1

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        cells = np.empty((self.size, block.records))
        block.write_x(cells)
        # A missing cell adds nothing to its own column; a missing weight drops the row.
        return np.nan_to_num(cells, nan=0.0) * block.y, np.ones((1, block.records))

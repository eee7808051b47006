"""Selection of the model with the smallest loss on rows that no model was fitted to.

Every model is a "column". A row's cell in it is its loss, clipped to [0, bound] and
measured from the middle. The code here clips it and puts it on the grid, so one row adds at
most LIMIT^2 in absolute value to any column's sum, whatever it contains. That is the
sensitivity that ``ranking_reach`` assumes, for every neighbour relation. Linear predictors
are exact (see linear_map.py) and everything else is elementwise: a row's losses depend on
that row alone, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet.rows.carries import Parts, shifted
from discreet.rows.linear_map import LinearMap
from discreet.rows.query import Block, Floats
from discreet.rows.ranking import Indices, Sides, WideBlock, no_columns
from discreet.rows.scores import Labels
from discreet.rows.wide_kernels import LIMIT

# Elementwise: a row's loss from its label and linear predictor.
Loss = Callable[[Floats, Floats], Floats]
# More rows than any table has: the offset minus the sum of this many losses is still positive.
_MORE_THAN_ALL_ROWS = 2.0**31


@dataclass(frozen=True, eq=False)
class LossRanking:
    """Ranks models by |offset - sum of losses|, with an offset above all sums:
    the smallest loss is first.

    With more rows than the offset covers, the absolute value would reverse the order of some
    scores. It increases no difference of scores, so it costs no privacy.
    """

    width: int
    label: str = "choice among candidates"
    sides: Sides = "absolute"
    weight_bound: float = 1.0
    cell_bound: float = 1.0
    excluded: Indices = field(default_factory=no_columns)

    @property
    def offset(self) -> Floats:
        return np.full(self.width, _MORE_THAN_ALL_ROWS)

    def weights(self, block: WideBlock) -> Floats:
        return np.ones(block.records)


class LossBlock:
    """Rows, represented by the losses of the models on them."""

    def __init__(self, block: Block, models: LinearMap, labels: Labels, loss: Loss, bound: float) -> None:
        self._block = block
        self._models = models
        self._labels = labels
        self._loss = loss
        self._bound = bound

    @property
    def records(self) -> int:
        return self._block.records

    def weighted_sums(self, weights: Floats, cell_bound: float) -> Parts:
        """See the protocol; a row without a loss in some model, such as one with a
        missing cell, adds nothing.
        """
        eta = self._models.apply(self._block)
        with np.errstate(all="ignore"):
            losses = self._loss(self._labels.of(self._block)[np.newaxis], eta)
            cells = np.rint(np.clip((losses * (2 / self._bound) - 1) * (LIMIT / cell_bound), -LIMIT, LIMIT))
        cells[:, np.isnan(cells).any(axis=0)] = 0.0
        # Fewer than 2^33 whole numbers below 2^20: float64 adds them exactly, in any order.
        sums = (cells @ weights).astype(np.int64)
        return shifted(sums, 0)

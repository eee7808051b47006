"""A query whose answer is a selection: the columns with the largest sums.

A ranking gives one weight per row; a column's sum adds weight times cell. The code here, not
the author of the query, clips the weight to its declared bound and puts it on a grid, and
likewise the encoded cell. So one row moves no sum by more than LIMIT^2 grid units, an exact
whole number, whatever it contains.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import Neighbours
from discreet.rows.carries import Parts
from discreet.rows.query import Block, Floats
from discreet.rows.wide_kernels import LIMIT

Indices = NDArray[np.int64]
# "absolute" ranks |sum|; "both" has two candidates per column, j for +sum and width + j for -sum.
Sides = Literal["absolute", "both"]


def no_columns() -> Indices:
    return np.zeros(0, dtype=np.int64)


class WideBlock(Block, Protocol):
    """A block of a wide table, which gives some of its columns, and weighted
    sums of all columns.
    """

    def take(self, columns: Indices) -> Block:
        """The same rows with these columns only."""
        ...

    def weighted_sums(self, weights: Floats, cell_bound: float) -> Parts:
        """The exact sums of whole weights times cells; cells are clipped to the
        bound, where they are LIMIT.
        """
        ...


class Ranking(Protocol):
    """Which columns have the largest |offset - sum of weight * cell|."""

    @property
    def label(self) -> str: ...

    @property
    def width(self) -> int:
        """The number of columns."""
        ...

    @property
    def sides(self) -> Sides: ...

    @property
    def weight_bound(self) -> float: ...

    @property
    def cell_bound(self) -> float: ...

    @property
    def offset(self) -> Floats | None:
        """Public numbers, one per column, from which the sums are subtracted; in
        units of weight times cell.
        """
        ...

    @property
    def excluded(self) -> Indices:
        """Columns that may not be chosen; these are public: they were chosen before."""
        ...

    def weights(self, block: WideBlock) -> Floats:
        """One weight per record, unclipped."""
        ...


@dataclass(frozen=True, eq=False)
class Picked:
    """The chosen candidates in the order of the picks and, where charged,
    noisy sums of their columns.

    Sums are whole multiples of ``unit``; they are signed, and without the query's offset.
    """

    indices: Indices
    unit: float
    whole: tuple[int, ...] | None = None

    @classmethod
    def of(cls, stored: dict[str, Any], unit: float) -> Picked:
        whole = stored["whole"]
        return cls(np.array(stored["picked"], dtype=np.int64), unit, None if whole is None else tuple(whole))

    def to_dict(self) -> dict[str, Any]:
        return {"picked": self.indices.tolist(), "whole": None if self.whole is None else list(self.whole)}

    def with_values(self, whole: NDArray[np.object_]) -> Picked:
        return replace(self, whole=tuple(int(value) for value in whole))

    @property
    def values(self) -> Floats:
        if self.whole is None:
            raise TypeError("no values were released with this selection")
        return np.array(self.whole, dtype=np.float64) * self.unit


def ranked_parts(query: Ranking, block: WideBlock, used: NDArray[np.bool_] | None = None) -> Parts:
    """The block's exact weighted sums of every column, which engines add."""
    weights = query.weights(block)
    if weights.shape != (block.records,):
        raise TypeError(f"ranking {query.label!r} must give one weight per record")
    whole = whole_weights(weights, query.weight_bound)
    if used is not None:
        whole[~used] = 0.0
    return block.weighted_sums(whole, query.cell_bound)


def whole_weights(weights: Floats, bound: float) -> Floats:
    """Weights in whole grid units, at most LIMIT; NaN becomes 0."""
    if not 1e-100 < bound < 1e100:
        raise ValueError(f"a weight's bound must be between 1e-100 and 1e100, got {bound}")
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.clip(weights * (LIMIT / bound), -LIMIT, LIMIT)
    np.rint(whole, out=whole)
    whole[np.isnan(whole)] = 0.0
    return whole


def ranking_unit(query: Ranking) -> float:
    """The value of one unit of the exact sums."""
    return query.weight_bound * query.cell_bound / LIMIT**2


def ranking_reach(neighbours: Neighbours, rows_per_person: int) -> int:
    """The sensitivity of any single sum, in grid units; exact, because all numbers are whole.

    A row adds at most LIMIT^2 in absolute value to a column's sum. Adding or removing a person's k
    rows moves it by at most k times that; replacing them by at most twice as much. A public offset
    changes nothing, and | |a| - |b| | <= |a - b|, so absolute values move no further.
    """
    return int(LIMIT) ** 2 * rows_per_person * (1 if neighbours == "add_or_remove_one" else 2)


def candidates(query: Ranking, sums: NDArray[np.object_]) -> tuple[Indices, NDArray[np.object_]]:
    """The allowed candidates and their exact scores: whole numbers, in the grid
    units of the sums.
    """
    if query.offset is not None:
        with np.errstate(over="ignore"):
            moved = np.rint(np.clip(query.offset / ranking_unit(query), -(2.0**100), 2.0**100))
        sums = np.array([int(value) for value in moved], dtype=object) - sums
    scores = np.abs(sums) if query.sides == "absolute" else np.concatenate([sums, -sums])
    allowed = np.setdiff1d(np.arange(query.width), query.excluded)
    if query.sides == "both":
        allowed = np.concatenate([allowed, allowed + query.width])
    return allowed, scores[allowed]

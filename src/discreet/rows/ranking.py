"""A question whose answer is a choice: which columns have the largest sums.

A ranking gives one weight per row; a column's sum adds up weight times cell. The weight is clipped to its declared
bound and put on a grid, the encoded cell to its own, both by the code here and not by the query's author. So one row
moves no sum by more than LIMIT^2 grid units, whatever it holds, and that is an exact whole number.
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
# Which sums are large: "absolute" ranks |sum|; "both" has two candidates a column, j for +sum and width + j for -sum.
Sides = Literal["absolute", "both"]


class WideBlock(Block, Protocol):
    """A block of a wide table, which can be asked for some of its columns and for weighted sums of all."""

    def take(self, columns: Indices) -> Block:
        """The same rows with these columns only."""
        ...

    def weighted_sums(self, weights: Floats, cell_bound: float) -> Parts:
        """The exact sums of whole weights times cells, each clipped to the bound and worth LIMIT there."""
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
        """Public numbers, one a column, to which the sums are added; in the units of weight times cell."""
        ...

    @property
    def excluded(self) -> Indices:
        """Columns that are not to be chosen, known without looking: those that were chosen before."""
        ...

    def weights(self, block: WideBlock) -> Floats:
        """One weight per record, unclipped."""
        ...


@dataclass(frozen=True, eq=False)
class Picked:
    """The chosen candidates in the order of the picks, and, where they were paid for, noisy sums of their columns.

    Sums are whole numbers of ``unit``; they are signed, and without the query's offset.
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
    """The block's exact weighted sums of every column: what an engine adds up."""
    weights = query.weights(block)
    if weights.shape != (block.records,):
        raise TypeError(f"ranking {query.label!r} must give one weight per record")
    whole = whole_weights(weights, query.weight_bound)
    if used is not None:
        whole[~used] = 0.0
    return block.weighted_sums(whole, query.cell_bound)


def whole_weights(weights: Floats, bound: float) -> Floats:
    """Weights in whole grid units, at most LIMIT of them; what is no number weighs nothing."""
    if not 1e-100 < bound < 1e100:
        raise ValueError(f"a weight's bound must be between 1e-100 and 1e100, got {bound}")
    with np.errstate(over="ignore", invalid="ignore"):
        whole = np.clip(weights * (LIMIT / bound), -LIMIT, LIMIT)
    np.rint(whole, out=whole)
    whole[np.isnan(whole)] = 0.0
    return whole


def ranking_unit(query: Ranking) -> float:
    """What one unit of the exact sums is worth."""
    return query.weight_bound * query.cell_bound / LIMIT**2


def ranking_reach(neighbours: Neighbours, rows_per_person: int) -> int:
    """How far one person can move any single sum, in grid units: exact, as all of it is whole numbers.

    A row adds at most LIMIT^2 in absolute value to a column's sum. Adding or removing a person's k rows moves it by at
    most k times that; replacing them takes away as much and adds as much. Adding a public offset changes nothing, and
    | |a| - |b| | <= |a - b|, so absolute values move no further.
    """
    return int(LIMIT) ** 2 * rows_per_person * (1 if neighbours == "add_or_remove_one" else 2)


def candidates(query: Ranking, sums: NDArray[np.object_]) -> tuple[Indices, NDArray[np.object_]]:
    """The candidates that may be chosen and their exact scores: whole numbers, in the grid units of the sums."""
    if query.offset is not None:
        with np.errstate(over="ignore"):
            moved = np.rint(np.clip(query.offset / ranking_unit(query), -(2.0**100), 2.0**100))
        sums = np.array([int(value) for value in moved], dtype=object) - sums
    scores = np.abs(sums) if query.sides == "absolute" else np.concatenate([sums, -sums])
    allowed = np.setdiff1d(np.arange(query.width), query.excluded)
    if query.sides == "both":
        allowed = np.concatenate([allowed, allowed + query.width])
    return allowed, scores[allowed]

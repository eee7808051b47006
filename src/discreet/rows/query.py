"""A question about the rows: a pair of factors whose product is summed.

A query maps a block of rows to ``(left, right)``, one column per row of data; the answer is the sum over the rows of
the outer products of their two columns. The norm bounds are public declarations. The curator clips to them itself, so
that a wrong query can give a useless answer but never a leak.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import Neighbours
from discreet.rows.kernels import column_norms, scratch

Floats = NDArray[np.float64]

# How two rows' contributions can stand to each other, which decides how far replacing one can move the sum:
#   "square"       left is right, so contributions are x x^T and <xx^T, zz^T> = <x, z>^2 >= 0
#   "nonnegative"  every entry of both factors is >= 0, so again no two contributions point apart
#   "free"         nothing is known, so they may be opposite
#   "mapped"       left is a row seen through a linear map, right its weight; only their product is bounded, and two
#                  may be opposite (rows/mapped.py)
#   "signs"        left is an array of truth values, one for each sign, so its norm is sqrt(entries) without any clip;
#                  two people's signs may be opposite
#   "cells"        left is the number of the one cell that a row counts in (-1: in none), so a row adds a single 1
#                  without any clip; right is 1
# A "printed_square" is a square whose noise is laid out as the papers print it, at full variance in every entry.
Geometry = Literal["square", "printed_square", "nonnegative", "free", "mapped", "signs", "cells"]


class Block(Protocol):
    """Some rows, encoded: x has one row per feature and one column per record, y one entry per record.

    Columns are contiguous because every step works on whole columns at a time, in an order that does not depend on
    how the rows were cut into blocks: that is what makes sums identical to the last bit on every engine.
    """

    @property
    def records(self) -> int: ...

    @property
    def y(self) -> Floats:
        """The encoded target; a query that asks for it on rows without one gets a TypeError."""
        ...

    @property
    def offset(self) -> Floats | None:
        """What is added to every model's linear predictor, if anything: the logarithm of the row's exposure."""
        ...

    def write_x(self, out: Floats) -> None:
        """Write x into ``out``: into the query's own array, so that it is written once."""
        ...


def silence(block: Block, width: int) -> Floats:
    """0 for a record of which no feature and no exposure is missing, else NaN: what it is added to counts nothing.

    A query that needs a part of each row only must not speak of other rows than the queries beside it.
    """
    x = scratch("silence", (width, block.records))
    block.write_x(x)
    silent = 0.0 * column_norms(x)  # encoded numbers lie in [-1, 1], or are NaN
    return silent if block.offset is None else silent + 0.0 * block.offset


def ones(records: int) -> Floats:
    """A factor of one entry, which is 1 in every record: it takes no memory, and its products are plain sums."""
    return np.broadcast_to(np.ones(1), (1, records))


def is_ones(factor: Floats) -> bool:
    return factor.strides == (0, 0) and factor.shape[0] == 1 and bool((factor[:, :1] == 1.0).all())


def weight_of(block: Any) -> Floats | None:
    """What part of its contribution each record of a block makes, in [0, 1]; None where all count in full."""
    weight: Floats | None = getattr(block, "weight", None)
    return weight


class WholeBlock(ABC):
    """A block that writes its rows in whole numbers, and keeps things for the next look at the same rows."""

    # What queries keep for the next time that they see these very rows; whoever has the rows may provide it.
    memory: dict[str, Any]

    @abstractmethod
    def write_whole(self, out: Floats, scale: float) -> None:
        """Write each record's (1, x) times the scale, a power of two, rounded to nearest: one record per column."""


class Query(Protocol):
    """A bounded question; see the module's text."""

    @property
    def label(self) -> str: ...

    @property
    def geometry(self) -> Geometry: ...

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of entries of the two factors, and so the shape of the answer."""
        ...

    @property
    def left_norm(self) -> float: ...

    @property
    def right_norm(self) -> float: ...

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        """The two factors, each with one column per record; the same array twice if the query is square.

        They are clipped in place, so they must be the query's own arrays. Of "cells" the left one is one line.
        """
        ...


class WeightedRows(ABC):
    """A square query whose factor is a weight times an array that it shares with others, and perhaps a last line."""

    @abstractmethod
    def weighted_rows(self, block: Block) -> tuple[Floats, Floats, Floats | None]:
        """The array, one column per record, which nobody writes to, the weights, and the last line."""

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        rows, weight, last = self.weighted_rows(block)
        factor = rows * weight if last is None else np.vstack([rows * weight, last])
        return factor, factor


def reach(geometry: Geometry, neighbours: Neighbours, contribution: float, rows_per_person: int = 1) -> float:
    """How far one person can move the sum, in the Frobenius norm, if each row's contribution has at most this norm.

    Let A and B be what a person contributes before and after the change: sums of at most k rows' contributions, so
    |A|, |B| <= k * contribution. Adding or removing the person moves the sum by |A|. Replacing moves it by |A - B|,
    where |A - B|^2 = |A|^2 + |B|^2 - 2 <A, B>: at most 2 (k * contribution)^2 if <A, B> >= 0, as it is for sums of
    squares x x^T and of nonnegative matrices, and (2 k * contribution)^2 always.
    """
    together = contribution * rows_per_person
    if neighbours == "add_or_remove_one":
        return together
    return together * (2.0 if geometry in ("free", "mapped", "signs") else math.sqrt(2.0))

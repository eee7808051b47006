"""A query about the rows: a pair of factors whose product is summed.

A query maps a block of rows to ``(left, right)``, with one column per row of data. The
answer is the sum over the rows of the outer products of their two columns. The norm bounds
are public declarations. The curator clips to them itself, so a wrong query can give a
useless answer but cannot leak.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.privacy import Neighbours
from discreet.rows.cells import CellsInMemory
from discreet.rows.kernels import column_norms, encode_cells, scratch
from discreet.rows.look import look, shared_of

Floats = NDArray[np.float64]

# The relation of two contributions, which decides how far replacing a row can move the sum:
# "square": left is right, so contributions are x x^T, and <xx^T, zz^T> = <x, z>^2 >= 0.
# "printed_square": a square with noise as the papers print it, at full variance in every entry.
# "nonnegative": every entry of both factors is >= 0, so inner products are >= 0 as well.
# "free": nothing is known, so they may be opposite.
# "mapped": left is a row after a linear map, right its weight; only their product is bounded, and
#     two may be opposite (rows/mapped.py).
# "signs": left is an array of truth values, one per sign, so its norm is sqrt(entries) without a
#     clip; two people's signs may be opposite.
# "cells": left is the number of the cell that a row counts in (-1: none), one line for each of
#     left_norm^2 histograms of equal size, so a row adds a single 1 to each; right is 1.
# "counted": left is 1, right a vector; a complete row also adds the same constant to the first
#     entry, which no exchange of two complete rows moves.
Geometry = Literal["square", "printed_square", "nonnegative", "free", "mapped", "signs", "cells", "counted"]


class Block(Protocol):
    """Encoded rows: x has one row per feature and one column per record, y one entry per record.

    Columns are contiguous because every step works on whole columns, in an order that does
    not depend on how the rows were divided into blocks. That makes sums identical to the
    last bit on every engine.
    """

    @property
    def records(self) -> int: ...

    @property
    def y(self) -> Floats:
        """The encoded target; raises a TypeError for rows without one."""
        ...

    @property
    def offset(self) -> Floats | None:
        """A term added to every linear predictor, or None: the logarithm of the row's exposure."""
        ...

    def write_x(self, out: Floats) -> None:
        """Write x into ``out``, the query's own array, so that it is written once."""
        ...


def encoded_x(block: Block, width: int) -> tuple[Floats, Floats]:
    """The features and each record's norm, only to be read; queries of one pass share them."""

    def compute() -> tuple[Floats, Floats]:
        x, cells = scratch("encoded x", (width, block.records)), cells_of(block)
        norms = None if cells is None else encode_cells(cells, x)
        if norms is None:
            block.write_x(x)
            norms = column_norms(x)
        return x, norms

    found: tuple[Floats, Floats] = shared_of(block, ("encoded x", width), compute)
    return found


def silence(block: Block, width: int) -> Floats:
    """0 for a record without missing features or exposure, else NaN; adding it
    drops incomplete records.

    A query that needs only a part of each row must use the same rows as the queries beside it.
    """
    known = look.found.get(("norms", width)) if look.block is block and look.found is not None else None
    norms = encoded_x(block, width)[1] if known is None else known
    silent = 0.0 * norms  # encoded numbers lie in [-1, 1], or are NaN
    return silent if block.offset is None else silent + 0.0 * block.offset


@lru_cache(maxsize=16)
def ones(records: int) -> Floats:
    """A factor with one entry, 1 in every record: it takes no memory, and its
    products are plain sums.
    """
    return np.broadcast_to(np.ones(1), (1, records))


def is_ones(factor: Floats) -> bool:
    return factor.strides == (0, 0) and factor.shape[0] == 1 and bool((factor[:, :1] == 1.0).all())


def weight_of(block: Any) -> Floats | None:
    """The weight of each record in [0, 1]; None if all count fully."""
    weight: Floats | None = getattr(block, "weight", None)
    return weight


class WholeBlock(ABC):
    """A block that writes its rows in whole numbers, and stores results for
    later queries about them.
    """

    # What queries store for their next use of the same rows; the owner of the rows may provide it.
    memory: dict[str, Any]

    @property
    def cells(self) -> CellsInMemory | None:
        """Where its cells lie, if they all are float64; then loops may read them themselves."""
        return None

    @abstractmethod
    def write_whole(self, out: Floats, scale: float) -> None:
        """Write each record's (1, x) times the scale, a power of two, rounded to
        nearest: one record per column.
        """


def cells_of(block: Block) -> CellsInMemory | None:
    """Where a block's cells lie, if loops may read them themselves."""
    return block.cells if isinstance(block, WholeBlock) else None


class Query(Protocol):
    """A bounded query; see the module's docstring."""

    @property
    def label(self) -> str: ...

    @property
    def geometry(self) -> Geometry: ...

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of entries of the two factors, which are the shape of the answer."""
        ...

    @property
    def left_norm(self) -> float: ...

    @property
    def right_norm(self) -> float: ...

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        """The two factors, each with one column per record; the same array
        twice if the query is square.

        They are clipped in place, so they must be the query's own arrays. For "cells"
        the left one is one line per histogram.
        """
        ...


class WeightedRows(ABC):
    """A square query whose factor is a weight times an array shared with other queries,
    plus an optional last line.
    """

    @abstractmethod
    def weighted_rows(self, block: Block) -> tuple[Floats, Floats, Floats | None]:
        """The array, one column per record (read-only), the weights, and the last line."""

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        rows, weight, last = self.weighted_rows(block)
        factor = rows * weight if last is None else np.vstack([rows * weight, last])
        return factor, factor


class SummedRows(ABC):
    """A query that sums vectors: its left factor is 1, its right one has its own lines
    above lines that are shared.
    """

    @abstractmethod
    def summed_rows(self, block: Block) -> tuple[Floats, Floats]:
        """Its own lines, and those below them, one column per record; nobody writes to them."""

    def factors(self, block: Block) -> tuple[Floats, Floats]:
        return ones(block.records), np.vstack(self.summed_rows(block))


class OneCell(ABC):
    """A query of nonnegative numbers in one cell: its left factor has a single 1, in the row's own
    cell, and a norm of 1.
    """

    @abstractmethod
    def cell_and_numbers(self, block: Block) -> tuple[NDArray[np.int64], Floats] | None:
        """The cell of each record (-1: none), and its right factor, the query's own array or
        ``ones``; None where the factor has more than a single 1.
        """


def reach(
    geometry: Geometry, neighbours: Neighbours, contribution: float, rows_per_person: int = 1, count: float = 0.0
) -> float:
    """The sensitivity of the sum in the Frobenius norm, if each row's
    contribution has at most this norm.

    Let A and B be a person's contributions before and after the change: sums of at most k rows'
    contributions, so |A|, |B| <= k * contribution. Adding or removing the person moves the sum by
    |A|. Replacing moves it by |A - B|, where |A - B|^2 = |A|^2 + |B|^2 - 2 <A, B>. This is at most
    2 (k * contribution)^2 if <A, B> >= 0, as it is for sums of squares x x^T and of nonnegative
    matrices, and at most (2 k * contribution)^2 always.

    "counted": a row adds (count, v) with |v| <= contribution, or nothing. Two such rows differ by
    at most 2 contribution, as the counts cancel; a row and nothing by hypot(count, contribution).
    A and B are sums of k terms, the missing ones 0, so |A - B| is at most k times the larger of
    the two.
    """
    together = contribution * rows_per_person
    if geometry == "counted":
        alone = math.hypot(count, contribution) * rows_per_person
        return alone if neighbours == "add_or_remove_one" else max(2 * together, alone)
    if neighbours == "add_or_remove_one":
        return together
    return together * (2.0 if geometry in ("free", "mapped", "signs") else math.sqrt(2.0))

"""Clipping factors onto an integer grid, and exact sums of their products.

Every record's factor becomes a vector of whole numbers that is never longer than its bound,
whatever the rounding. So products and sums are whole numbers, and the order of addition does not
matter. That is why every engine, chunking and row order gives the same bits, and why noise that is
discrete on the same grid hides the sum completely.

Rounding must not cause bias: if the same value is always rounded the same way, n equal errors add
up, and at n = 10^7 they can exceed the noise. Short factors, whose records may be few and alike,
have 44 bits, which makes the error negligible; they are multiplied as two halves. Long factors have
22 bits, on a grid that is a power of two of the encoded unit (intercepts and indicators lie on it
exactly), and are dithered: v becomes floor(v + u), where u is made of the low bits of the record's
own norms and is practically uniform. Over many different records the errors average out. u depends
on no other record, so the sensitivity is unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from discreet.rows.carries import HALF_BITS, Parts, carried, exact_sum, shifted
from discreet.rows.kernels import (
    TILE_ROWS,
    cell_sums,
    column_norms,
    count_cells,
    place,
    place_weighted,
    placed_sums,
    scratch,
    square_sums,
    weighted_squares,
)
from discreet.rows.law_parts import law_parts
from discreet.rows.look import one_look
from discreet.rows.look_parts import look_parts
from discreet.rows.mapped import MappedQuery, mapped_grid, mapped_parts, mapped_shape, mapped_sum
from discreet.rows.query import Block, Floats, OneCell, Query, SummedRows, WeightedRows, is_ones, weight_of
from discreet.rows.scales import grid_bits, grid_norm, grid_scale
from discreet.rows.weighted import COUNT_BITS, weigh, whole_weights

# Two numbers of 22 bits multiply to 44 bits, and float64 adds 512 such
# products exactly: 44 + 9 = 53.
_EXACT_ROWS = 512
# Signs are converted to numbers for this many records at a time, which fit into
# the second-level cache.
_SIGN_ROWS = 512


def left_grid(query: Query) -> tuple[float, float]:
    """Grid units per unit of the left factor, and the largest norm that it can have in them.

    Signs and counts are whole numbers already.
    """
    entries = query.shape[0]
    if query.geometry == "mapped":
        return mapped_grid(cast(MappedQuery, query))
    if query.geometry == "signs":
        return 1.0, math.sqrt(entries)
    if query.geometry == "cells":
        return 1.0, math.sqrt(_histograms(query))
    return grid_scale(query.left_norm, entries), grid_norm(query.left_norm, entries)


def right_grid(query: Query) -> tuple[float, float]:
    """The same for the right factor.

    Beside signs it has one half: random signs average rounding out.
    """
    entries = query.shape[1]
    if query.geometry == "mapped":
        return 1.0, 1.0
    bits = HALF_BITS if query.geometry == "signs" else grid_bits(entries)
    return grid_scale(query.right_norm, entries, bits), grid_norm(query.right_norm, entries, bits)


class CountedQuery(Protocol):
    """A "counted" query: the first line of its vectors is kept free for the count."""

    @property
    def count_weight(self) -> float:
        """What a complete row adds to the first entry, best a power of two."""
        ...


def count_units(query: Query) -> int:
    """What a complete row adds to the first entry, in grid units of the right factor."""
    if query.geometry != "counted":
        return 0
    return math.floor(cast(CountedQuery, query).count_weight * right_grid(query)[0])


def product_parts(query: Query, block: Block, used: NDArray[np.bool_] | None = None) -> Parts:
    """The block's exact sum of products, as integer matrices that ``query_sum``
    combines; engines add these.

    ``used`` marks the rows that may contribute. numpy must not warn: a
    warning would depend on a row.
    """
    return several_parts([query], block, used).reshape(parts_shape(query))


def _product_parts(query: Query, block: Block, used: NDArray[np.bool_] | None) -> Parts:
    if query.geometry == "mapped":
        return mapped_parts(cast(MappedQuery, query), block, used)
    weight = weight_of(block)
    square = query.geometry in ("square", "printed_square")
    if isinstance(query, WeightedRows) and weight is None:
        return _square_parts(query, *query.weighted_rows(block), used)
    if query.geometry == "counted":
        return _counted_sums(query, block, used, weight)
    if isinstance(query, SummedRows) and weight is None:
        return _summed_parts(query, *query.summed_rows(block), used)
    # A factor of few entries has so many bits that its dither may round up to a whole unit.
    if isinstance(query, OneCell) and weight is None and grid_bits(query.shape[0]) == HALF_BITS:
        one = query.cell_and_numbers(block)
        if one is not None:
            return _one_cell_parts(query, *one, used)
    left, right = query.factors(block)
    if query.geometry == "cells":
        return _counted_parts(query, left, block.records, used, weight)
    if (len(left), len(right)) != query.shape or (square and left is not right):
        raise TypeError(f"the factors of query {query.label!r} differ from their declaration")
    if query.geometry == "signs":
        return _signed_parts(query, left, right, used)
    of_ones = is_ones(left), is_ones(right)
    left, right = (left, left) if square else (_own(left), _own(right))
    if query.geometry == "nonnegative":
        np.maximum(left, 0.0, out=left)
        np.maximum(right, 0.0, out=right)
    if weight is not None:
        weigh(query, left, weight)
    if square:
        return _square_parts(query, left, np.ones(block.records), None, used)
    if of_ones[1] or (of_ones[0] and weight is None):
        factor = left if of_ones[1] else right
        return _summed_parts(query, factor, factor[:0], used, left=of_ones[1])
    left_seed = _finite(column_norms(left)) * (math.sqrt(3) / query.left_norm)
    right_norms = _on_grid(right, query.right_norm, right_grid(query)[0], left_seed)
    right_seed = right_norms * (math.sqrt(3) / query.right_norm)
    _on_grid(left, query.left_norm, left_grid(query)[0], right_seed)
    if used is not None:
        left[:, ~used] = 0.0
    return _product_of_halves(left, right)


def _square_parts(
    query: Query, rows: Floats, weight: Floats, last: Floats | None, used: NDArray[np.bool_] | None
) -> Parts:
    """The sum of squares of weighted records, in tiles small enough for the cache."""
    entries = len(rows) + (last is not None)
    if query.shape != (entries, entries):
        raise TypeError(f"the factors of query {query.label!r} differ from their declaration")
    total, scale = np.zeros(parts_shape(query), dtype=np.int64), left_grid(query)[0]
    long = grid_bits(entries) == HALF_BITS
    if long and weighted_squares(rows, weight, last, used, (query.left_norm, scale), total):
        return total
    for start in range(0, len(weight), TILE_ROWS):
        some = slice(start, start + TILE_ROWS)
        tile = scratch("square tile", (entries, len(weight[some])))
        place_weighted(rows, weight, last, start, query.left_norm, scale, tile)
        if used is not None:
            tile[:, ~used[some]] = 0.0
        total += _product_of_halves(tile, tile)
    return total


def _counted_sums(query: Query, block: Block, used: NDArray[np.bool_] | None, weight: Floats | None) -> Parts:
    """Sums of vectors, with the number of complete records in the first entry.

    A record whose own lines are not finite counts nothing and, being placed as 0, adds nothing. Any
    other counts ``count_units`` exactly, and its vector, 0 in the first entry, is clipped as usual.
    """
    if not isinstance(query, SummedRows) or weight is not None:
        raise TypeError(f"query {query.label!r} must give vectors of rows that count once")
    head, body = query.summed_rows(block)
    complete = np.isfinite(head).all(axis=0)
    head[0] = np.where(complete, 0.0, np.nan)
    counted = int(np.count_nonzero(complete if used is None else complete & used))
    return _summed_parts(query, head, body, used, counted=counted)


def _summed_parts(
    query: Query,
    head: Floats,
    body: Floats,
    used: NDArray[np.bool_] | None,
    *,
    left: bool = False,
    counted: int = 0,
) -> Parts:
    """Sums of one factor's records, ``head`` above ``body``, where the other one (the
    left, or the right) is 1.

    The grid's 1 is a power of two; its dither makes it one unit more in a few
    records, which are multiplied. ``counted`` records add to the first entry of a "counted" query.
    """
    entries = len(head) + len(body)
    if entries != query.shape[not left] or query.shape[left] != 1:
        raise TypeError(f"query {query.label!r} gives other factors than it declares")
    numbers, half, halves = _grids(query, left=left)
    head, body = np.ascontiguousarray(head), np.ascontiguousarray(body)
    bits = int(math.log2(half)) if halves == 2 else None
    sums, rest = placed_sums(head, body, numbers, used, bits)
    return _pairs_of_sums(query, sums, rest, counted, left=left)


def _grids(query: Query, *, left: bool = False) -> tuple[tuple[float, ...], float, int]:
    """The grids of a query's vectors and of the 1 beside them (``placed_sums``), the worth of a
    high half, and the number of halves.
    """
    norms, scales = (query.left_norm, query.right_norm), (left_grid(query)[0], right_grid(query)[0])
    seeds, (own, one) = [math.sqrt(3) / norm for norm in norms], (0, 1) if left else (1, 0)
    numbers = norms[own], scales[own], seeds[one], norms[one], scales[one], seeds[own]
    halves = 1 + (grid_bits(query.shape[own]) > HALF_BITS)
    return numbers, 2.0 ** (HALF_BITS if halves == 2 else 0), halves


def _pairs_of_sums(query: Query, sums: Parts, rest: Parts, counted: int, *, left: bool = False) -> Parts:
    """What ``placed_sums`` found, times the grid's 1."""
    entries, scale_of_one = sums.shape[1], (right_grid if left else left_grid)(query)[0]
    for line, units in zip(sums, _halved(count_units(query), len(sums)), strict=True):
        line[0] += counted * units
    above, below = np.zeros((2, len(sums) + 1, entries), dtype=np.int64)
    above[:-1], below[1:] = sums, rest
    pairs = shifted(above, int(math.log2(scale_of_one)) - HALF_BITS) + shifted(below, 0)
    parts = pairs.swapaxes(0, 1).reshape(-1, entries)
    return parts[:, :, np.newaxis] if left else parts[:, np.newaxis, :]


def _halved(whole: int, halves: int) -> tuple[int, ...]:
    """A whole number as its high and low half, or as it is."""
    return divmod(whole, 2**HALF_BITS) if halves == 2 else (whole,)


def _own(factor: Floats) -> Floats:
    """A writable factor."""
    return np.array(factor) if is_ones(factor) else factor


def parts_shape(query: Query) -> tuple[int, int, int]:
    """The shape of ``product_parts`` for this query and any block."""
    if query.geometry == "mapped":
        return mapped_shape(cast(MappedQuery, query))
    rows, columns = query.shape
    if query.geometry == "signs":
        return 2, rows, columns
    if query.geometry == "cells":
        return 4, rows, columns
    worths = 1 + sum(grid_bits(entries) > HALF_BITS for entries in (rows, columns))
    return 2 * worths, rows, columns


def several_parts(queries: Sequence[Query], block: Block, used: NDArray[np.bool_] | None = None) -> Parts:
    """The parts of several queries about one block, concatenated.

    Those that need all outputs of a map come first: others find in them what they need.
    """
    with np.errstate(all="ignore"), one_look(block):
        found = law_parts(queries, block, used)
        found |= look_parts(queries, block, used, _grids, _pairs_of_sums, _count_pairs)
        for number in sorted(range(len(queries)), key=lambda number: not isinstance(queries[number], WeightedRows)):
            if number not in found:
                found[number] = _product_parts(queries[number], block, used)
    return np.concatenate([found[number].ravel() for number in range(len(queries))])


def parts_of_each(queries: Sequence[Query], together: Parts) -> list[Parts]:
    """Splits what ``several_parts`` concatenated."""
    shapes = [parts_shape(query) for query in queries]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(together, ends[:-1]), shapes, strict=True)]


def _counted_parts(
    query: Query, cell: NDArray[Any], records: int, used: NDArray[np.bool_] | None, weight: Floats | None = None
) -> Parts:
    """The number of records in each cell, times the grid's 1, which has two halves.

    A record is counted at most once in each histogram, whatever the query returns: it has one cell
    number there, and a number out of range is in no cell. So its contribution has a norm of at most
    the root of their number. The grid's 1 is a power of two, so every product is exact.
    """
    histograms, (cells, columns) = _histograms(query), query.shape
    if cell.dtype != np.int64 or cell.shape != (histograms, records) or columns != 1 or query.right_norm != 1.0:
        raise TypeError(f"query {query.label!r} must give one cell per record and histogram")
    return _count_pairs(query, _counts(np.ascontiguousarray(cell), cells // histograms, used, weight))


def _count_pairs(query: Query, found: NDArray[Any]) -> Parts:
    """Counts times the grid's 1."""
    counts, cells = found.ravel(), query.shape[0]
    halves = np.array(divmod(right_grid(query)[0], 2.0**HALF_BITS))
    pairs = carried((halves[:, np.newaxis] * counts)[np.newaxis])
    return pairs.swapaxes(0, 1).reshape(4, cells, 1)


def _one_cell_parts(query: Query, cell: NDArray[np.int64], right: Floats, used: NDArray[np.bool_] | None) -> Parts:
    """Sums by cell of right factors.

    The left factor has many entries, so 22 bits: on the grid it is a power of two in its cell, as
    its norm is 1 and so is its bound, and the dither is below 1. Beside a right factor of 1 all
    records add the same to their cell, so one of them tells it.
    """
    cells, columns = query.shape
    if query.left_norm != 1.0 or query.geometry != "nonnegative" or len(right) != columns:
        raise TypeError(f"query {query.label!r} must give one cell per record, with numbers beside it")
    if is_ones(right):
        single = _summed_parts(query, np.eye(cells, 1), np.empty((0, 1)), None, left=True)[:, :1]
        return np.asarray(single * count_cells(cell[np.newaxis], cells, used).T)
    np.maximum(right, 0.0, out=right)
    _on_grid(right, query.right_norm, right_grid(query)[0], np.full(len(cell), math.sqrt(3) / query.left_norm))
    halves = 1 + (grid_bits(columns) > HALF_BITS)
    sums = cell_sums(np.ascontiguousarray(cell), right, cells, halves, used)
    bits = int(math.log2(left_grid(query)[0]))
    pairs = shifted(sums.swapaxes(1, 2), bits)
    return pairs.swapaxes(0, 1).reshape(-1, cells, columns)


def _histograms(query: Query) -> int:
    """The number of histograms of a query about cells, by its declared norm."""
    number = round(query.left_norm**2)
    if number < 1 or query.shape[0] % number:
        raise TypeError(f"the cells of query {query.label!r} must be those of left_norm^2 histograms of equal size")
    return number


def _counts(cell: NDArray[Any], cells: int, used: NDArray[np.bool_] | None, weight: Floats | None) -> Floats:
    """The number of records in each cell of each histogram, or the sum of their weights."""
    if weight is None:
        return count_cells(cell, cells, used).astype(np.float64)
    counted = (cell >= 0) & (cell < cells) & (True if used is None else used)
    # whole numbers, so exact in any order; the grid's 1 has more bits than a weight
    worth = whole_weights(weight)
    whole = [np.bincount(line[some], worth[some], minlength=cells) for line, some in zip(cell, counted, strict=True)]
    return np.asarray(np.array(whole) * 2.0**-COUNT_BITS, dtype=np.float64)


def _signed_parts(query: Query, plus: Floats, right: Floats, used: NDArray[np.bool_] | None) -> Parts:
    """The sum of +right or -right by each record's signs: twice the sum over plus
    signs, minus the sum over all.

    These are whole numbers of 22 bits, so float64 is exact up to 2^30 records
    in a block, in any order.
    """
    if plus.dtype != np.bool_:
        raise TypeError(f"query {query.label!r} must give its signs as truth values")
    _on_grid(right, query.right_norm, right_grid(query)[0], np.zeros(right.shape[1]))
    if used is not None:
        right[:, ~used] = 0.0
    total = np.zeros((len(right), len(plus)))
    buffer = scratch("signs", (_SIGN_ROWS, len(plus)))
    for start in range(0, right.shape[1], _SIGN_ROWS):
        some = right[:, start : start + _SIGN_ROWS]
        signs = buffer[: some.shape[1]]
        np.copyto(signs, plus[:, start : start + _SIGN_ROWS].T)
        total += some @ signs
    return carried((2 * total - right.sum(axis=1)[:, np.newaxis]).T[np.newaxis])


def query_sum(query: Query, parts: Parts) -> NDArray[np.object_]:
    """The parts of all blocks combined to unbounded Python integers, in grid
    units of the two factors.
    """
    return mapped_sum(cast(MappedQuery, query), parts) if query.geometry == "mapped" else exact_sum(parts)


def _on_grid(factor: Floats, norm_bound: float, scale: float, seed: Floats) -> Floats:
    """Clip a factor to its bound and round it to whole grid units, in place;
    returns the earlier norms.
    """
    return _finite(place(factor, norm_bound, scale, seed))


def _product_of_halves(left: Floats, right: Floats) -> Parts:
    """left @ right.T, where either may be two halves: products of equal worth
    are added, highest first.
    """
    left_halves = _halves(left)
    right_halves = left_halves if right is left else _halves(right)
    if len(left_halves) == len(left) and len(right_halves) == len(right):
        return _exact_product(left, right)
    product = _exact_product(left_halves, right_halves)
    rows, columns = len(left), len(right)
    quarters = [
        [product[:, i : i + rows, j : j + columns] for j in range(0, len(right_halves), columns)]
        for i in range(0, len(left_halves), rows)
    ]
    worths: dict[int, Parts] = {}
    for i, row in enumerate(quarters):
        for j, quarter in enumerate(row):
            worths[i + j] = worths[i + j] + quarter if i + j in worths else quarter
    return np.concatenate([worths[worth] for worth in sorted(worths)])


def _halves(factor: Floats) -> Floats:
    """The high half above the low half, of 22 bits each; a long factor has
    only one and is unchanged.
    """
    if grid_bits(len(factor)) == HALF_BITS:
        return factor
    stacked = np.empty((2 * len(factor), factor.shape[1]))
    high, low = stacked[: len(factor)], stacked[len(factor) :]
    np.multiply(factor, 2.0**-HALF_BITS, out=high)
    np.floor(high, out=high)
    np.multiply(high, -(2.0**HALF_BITS), out=low)
    low += factor
    return stacked


def _finite(norms: Floats) -> Floats:
    """Norms as dithering seeds for the other factor; one that is not finite becomes 0."""
    finite = np.isfinite(norms)
    return norms if finite.all() else np.where(finite, norms, 0.0)


def _exact_product(left: Floats, right: Floats) -> Parts:
    """left @ right.T of whole numbers, exact: float64 within runs of 512
    rows, 64-bit integers above.

    Each run is split before runs are added, so that a block of any size fits.
    """
    if left is right and square_sums(left, squares := np.zeros((2, len(left), len(left)), dtype=np.int64)):
        return squares
    rows = left.shape[1]
    whole_runs = rows // _EXACT_ROWS * _EXACT_ROWS
    total = carried((left[:, whole_runs:] @ right[:, whole_runs:].T)[np.newaxis])
    if whole_runs:
        total += carried(np.matmul(_runs(left, whole_runs), _runs(right, whole_runs).transpose(0, 2, 1)))
    return total


def _runs(factor: Floats, stop: int) -> Floats:
    return factor[:, :stop].reshape(len(factor), -1, _EXACT_ROWS).transpose(1, 0, 2)

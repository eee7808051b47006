"""Clipping factors onto an integer grid, and exact sums of their products.

Every record's factor becomes a vector of whole numbers of norm at most 2^22, by even one rounding never above it, so
products and sums are whole numbers and addition has no order. That is why every engine, chunking and row order gives
the same bits, and why the noise, discrete on the same grid, hides everything.

Rounding must not bias: always rounding the same value the same way adds up n equal errors, which at n = 10^7 exceeds
the noise. So the grid is a power of two of the encoded unit (intercepts, indicators and other short binary fractions
lie on it exactly), and other values are dithered: v becomes floor(v + u), with u the low bits of the record's own
norms, as good as uniform. Over many different records the errors average out; u depends on no other record, so one
person's reach is what it was.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.rows.kernels import column_norms, place
from discreet.rows.query import Block, Floats, Query

# Two numbers of 22 bits multiply to 44 bits, and float64 adds 512 such products exactly: 44 + 9 = 53.
GRID_RADIUS = 2**22
_EXACT_ROWS = 512

# Sums are carried as two 64-bit integers, worth 2^26 and 1, which hold more than 2^40 rows.
_CARRY_BITS = 26

Parts = NDArray[np.int64]


def grid_scale(norm_bound: float, entries: int) -> float:
    """Grid units per unit of a factor with this many entries: the finest power of two that keeps within the radius."""
    return 2.0 ** math.floor(math.log2((GRID_RADIUS - math.sqrt(entries) - 1) / norm_bound))


def grid_norm(norm_bound: float, entries: int) -> float:
    """The norm that no clipped factor exceeds, in grid units.

    The float vector is scaled to norm_bound * scale up to rounding of relative size (entries + 8) * 2^-53, less than 1
    unit; floor(v + u) with 0 <= u < 1 moves each entry by at most 1, so the vector by at most sqrt(entries).
    """
    return norm_bound * grid_scale(norm_bound, entries) + math.sqrt(entries) + 1


def product_parts(query: Query, block: Block, used: NDArray[np.bool_] | None = None) -> Parts:
    """The block's exact sum of products, as two integer matrices worth 2^26 and 1: what an engine adds up.

    ``used`` marks the rows that may contribute at all.
    """
    left, right = query.factors(block)
    square = query.geometry in ("square", "printed_square")
    if (len(left), len(right)) != query.shape or (square and left is not right):
        raise TypeError(f"query {query.label!r} gives other factors than it declares")
    if query.geometry == "nonnegative":
        np.maximum(left, 0.0, out=left)
        np.maximum(right, 0.0, out=right)
    if square:
        _on_grid(left, query.left_norm, np.zeros(block.records))
    else:
        left_norms = column_norms(left)
        right_norms = _on_grid(right, query.right_norm, left_norms * (math.sqrt(3) / query.left_norm))
        _on_grid(left, query.left_norm, right_norms * (math.sqrt(3) / query.right_norm))
    if used is not None:
        left[:, ~used] = 0.0
    return _exact_product(left, right)


def exact_sum(parts: Parts) -> NDArray[np.object_]:
    """The parts put together, as unbounded Python integers in grid units of the two factors."""
    return np.asarray(parts[0].astype(object) * 2**_CARRY_BITS + parts[1].astype(object), dtype=object)


def _on_grid(factor: Floats, norm_bound: float, seed: Floats) -> Floats:
    """Clip a factor to its bound and round it to whole grid units, in place; returns the norms before."""
    norms = place(factor, norm_bound, grid_scale(norm_bound, len(factor)), seed)
    return np.where(np.isfinite(norms), norms, 0.0)


def _exact_product(left: Floats, right: Floats) -> Parts:
    """left @ right.T of whole numbers, summed exactly: float64 within runs of 512 rows, 64-bit integers above.

    Each run is split before runs are added, so that a block of any size fits.
    """
    rows = left.shape[1]
    whole_runs = rows // _EXACT_ROWS * _EXACT_ROWS
    total = _split((left[:, whole_runs:] @ right[:, whole_runs:].T)[np.newaxis])
    if whole_runs:
        total += _split(np.matmul(_runs(left, whole_runs), _runs(right, whole_runs).transpose(0, 2, 1)))
    return total


def _split(runs: Floats) -> Parts:
    whole = runs.astype(np.int64)
    return np.stack([(whole >> _CARRY_BITS).sum(axis=0), (whole & (2**_CARRY_BITS - 1)).sum(axis=0)])


def _runs(factor: Floats, stop: int) -> Floats:
    return factor[:, :stop].reshape(len(factor), -1, _EXACT_ROWS).transpose(1, 0, 2)

"""Sums of weighted rows that are bounded after a linear map: M x w for every row,
with the map applied last.

The sum of M x_i w_i is M times the sum of x_i w_i, so a pass over the rows costs two products with
a vector instead of one with a matrix. Rows, weights and M are whole numbers, so both orders give
the same bits: a row contributes the whole vector M x w, whose length is at most the declared bound
and which depends on no other row.

Proof of the bound: |M x| is known to a relative error of (m + 4) 2^-53 for m outputs, since M x is
exact. The weight is clipped to bound / |M x| and then rounded towards zero. So |M x w| <= bound (1
+ (m + 8) 2^-53), and ``mapped_grid`` leaves 2^-36. Rows shorter than ``_shortest`` are treated as
if they had that length, which only clips more.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.rows.carries import Parts, carried, exact_sum
from discreet.rows.kernels import sum_cells, weighted_sum
from discreet.rows.linear_map import ROW_BITS, LinearMap
from discreet.rows.query import Block, Floats, cells_of, weight_of
from discreet.rows.weighted import weigh_cut

# A weight has three digits of 16 bits. With 23 bits of an entry and 2^14 rows, float64 adds
# each exactly: 53 bits.
_DIGIT_BITS = 16
_WEIGHT_BITS = 3 * _DIGIT_BITS
EXACT_ROWS = 2 ** (53 - ROW_BITS - _DIGIT_BITS)
# Rows this much shorter than the radius could have weights so large that other
# weights would lose bits.
_SHORT = 2.0**-16
_MARGIN = 1 + 2.0**-36


class MappedQuery(Protocol):
    """The sum of weight z; the map's first output is the linear predictor, and z are the others."""

    @property
    def label(self) -> str: ...

    @property
    def map(self) -> LinearMap: ...

    @property
    def radius(self) -> float:
        """A typical length of z, to within many powers of two."""
        ...

    @property
    def left_norm(self) -> float:
        """The largest norm of weight z: weights are clipped to it."""
        ...

    def weights(self, block: Block, eta: Floats, length: Floats) -> Floats:
        """Each row's weight, as a function of its linear predictor and the norm of its z."""
        ...


def mapped_parts(query: MappedQuery, block: Block, used: NDArray[np.bool_] | None) -> Parts:
    """The block's exact sum of whole rows times whole weights;
    ``mapped_sum`` applies the map to it.
    """
    eta, length = query.map.predictor_and_length(block)
    weight = query.weights(block, eta, length)
    if (row_weight := weight_of(block)) is not None:
        weight = weigh_cut(weight, length, query.left_norm, _shortest(query), row_weight)
    if used is not None:
        weight = np.where(used, weight, 0.0)
    return _weighted_rows(query.map, block, weight, length, mapped_rule(query))


def _weighted_rows(
    linear: LinearMap, block: Block, weight: Floats, length: Floats, grid: tuple[float, float, float, float]
) -> Parts:
    """The sum of whole rows (1, x) times whole weights: a pair for each digit of a weight."""
    cells = cells_of(block)
    pairs = None if cells is None else sum_cells(cells, 2.0**linear.row_bits, weight, length, grid, EXACT_ROWS)
    if pairs is None:
        lines = linear.whole_lines(block)
        runs = (slice(start, start + EXACT_ROWS) for start in range(0, max(lines.shape[1], 1), EXACT_ROWS))
        sums = [weighted_sum(np.ascontiguousarray(lines[:, run]), weight[run], length[run], *grid) for run in runs]
        pairs = carried(np.stack(sums))
    return digit_parts(pairs)


def digit_parts(pairs: NDArray[np.int64]) -> Parts:
    """The sums of rows times digits of their weights, each a pair, as ``mapped_parts`` has them."""
    digits, inputs = pairs.shape[1:]
    return pairs.swapaxes(0, 1).reshape(2 * digits, inputs, 1)


def mapped_rule(query: MappedQuery) -> tuple[float, float, float, float]:
    """How ``weighted_sum`` puts a row's weight on the grid."""
    return query.left_norm, _shortest(query), _weight_scale(query), 2.0**_DIGIT_BITS


def mapped_shape(query: MappedQuery) -> tuple[int, int, int]:
    """The shape of ``mapped_parts``: a pair for each of the three digits of a weight."""
    return 2 * _WEIGHT_BITS // _DIGIT_BITS, query.map.matrix.shape[1], 1


def mapped_sum(query: MappedQuery, parts: Parts) -> NDArray[np.object_]:
    """The parts of all blocks combined, in grid units of ``mapped_grid``."""
    return np.asarray(query.map.fine_matrix @ exact_sum(parts, _DIGIT_BITS))


def mapped_grid(query: MappedQuery) -> tuple[float, float]:
    """Grid units per unit of the answer, and the largest norm of a row's contribution in them."""
    if not (1e-100 < query.left_norm < 1e100 and 1e-100 < query.radius < 1e100):
        raise ValueError("bounds of a mapped sum must be between 1e-100 and 1e100")
    scale = _weight_scale(query) * query.map.fine_scale
    if not scale < 1e280:
        raise ValueError(f"the linear map of query {query.label!r} has entries that are too small")
    return scale, query.left_norm * scale * _MARGIN


def _shortest(query: MappedQuery) -> float:
    return query.radius * _SHORT


def _weight_scale(query: MappedQuery) -> float:
    """Whole units per unit of a weight: one bit of the digits is left for the sign."""
    return float(2.0 ** (_WEIGHT_BITS - 1 - math.ceil(math.log2(query.left_norm / _shortest(query)))))

"""The inner loop of a sum over a wide table, in numpy and compiled by numba, with identical bits.

A cell x becomes rint(clip((x - centre) * per_unit, -LIMIT, LIMIT)), a whole number of at most 10
bits; NaN becomes 0. Multiplied by whole weights of at most 10 bits, 2^33 of them add up exactly in
float64, in any order. So a row's contribution depends on that row alone, as the grid requires. Ten
bits are enough to rank columns: a score is off by at most a thousandth of itself.

All numbers are computed in float64, also if the table has single precision: a single cell
can change the type of a table, and would otherwise change the rounding of everyone's cells.
The compiled loop reads the table once, in its own type and without a copy; numpy makes a
float64 copy of each block.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.rows.kernels import jitted

Floats = NDArray[np.float64]

LIMIT = 2.0**10
# With more rows than this in a block, sums of whole numbers of 20 bits might
# not be exact in float64.
MOST_ROWS = 2**32
# Columns at a time: long stretches of a row are read fastest, and sums and units still fit
# the second-level cache.
_COLUMNS = 16384
# Compiling takes longer than it saves on fewer cells than this.
_MANY_CELLS = 20_000_000


def weighted_cells(table: NDArray[Any], weights: Floats, centre: Floats, per_unit: Floats, *, cells: int) -> Floats:
    """The exact sum over a block's rows of a row's whole weight times its whole cells.

    ``cells``: the number of cells of the whole table, which decides whether to compile the loop.
    """
    out = np.zeros(table.shape[1])
    simple = table.dtype.isnative and table.dtype.char not in "eg" and table.dtype.kind in "fiu"
    loop = _compiled() if cells >= _MANY_CELLS and simple else None
    (loop or weighted_cells_numpy)(table, weights, centre, per_unit, LIMIT, out)
    return out


def weighted_cells_numpy(table: Any, weights: Any, centre: Any, per_unit: Any, limit: Any, out: Any) -> None:
    """The loop in numpy."""
    out += weights @ whole_cells(table, centre, per_unit, limit)


def whole_cells(cells: Any, centre: Any, per_unit: Any, limit: Any = LIMIT) -> Floats:
    """Cells as whole numbers of at most 10 bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        whole = (np.asarray(cells, dtype=np.float64) - centre) * per_unit
    np.clip(whole, -limit, limit, out=whole)
    np.rint(whole, out=whole)
    whole[np.isnan(whole)] = 0.0
    return np.asarray(whole, dtype=np.float64)


@lru_cache(maxsize=1)
def _compiled() -> Any:
    try:
        import numba
        import numba.extending
    except ImportError:
        return None
    # No fastmath: contraction would change bits. Registered because numba
    # compiles what the loop calls.
    numba.extending.register_jitable(_careful_rows)
    return jitted(numba, _weighted_cells_loop)


def _weighted_cells_loop(table: Any, weights: Any, centre: Any, per_unit: Any, limit: Any, out: Any) -> None:
    # Sixteen rows at a time, so that their sums stay in the first-level cache. A NaN cell makes its
    # sum NaN, which is detected afterwards; these rows are then computed again with care.
    # Subtracting a centre of 0 changes no bit, so it is skipped.
    sixteens = len(weights) // 16 * 16
    partial = np.empty(_COLUMNS, dtype=centre.dtype)
    for start in range(0, table.shape[1], _COLUMNS):
        stop = start + _COLUMNS
        middle, unit, total = centre[start:stop], per_unit[start:stop], out[start:stop]
        sums = partial[: len(total)]
        centred = True
        for j in range(len(middle)):
            centred &= middle[j] == 0
        for first in range(0, sixteens, 16):
            sums[:] = limit - limit
            for i in range(first, first + 16, 4):
                row_a, row_b = table[i, start:stop], table[i + 1, start:stop]
                row_c, row_d = table[i + 2, start:stop], table[i + 3, start:stop]
                weight_a, weight_b, weight_c, weight_d = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
                for j in range(len(sums)):
                    if centred:
                        a, b, c, d = row_a[j] * unit[j], row_b[j] * unit[j], row_c[j] * unit[j], row_d[j] * unit[j]
                    else:
                        a, b = (row_a[j] - middle[j]) * unit[j], (row_b[j] - middle[j]) * unit[j]
                        c, d = (row_c[j] - middle[j]) * unit[j], (row_d[j] - middle[j]) * unit[j]
                    a = -limit if a < -limit else a
                    b = -limit if b < -limit else b
                    c = -limit if c < -limit else c
                    d = -limit if d < -limit else d
                    a = limit if a > limit else a
                    b = limit if b > limit else b
                    c = limit if c > limit else c
                    d = limit if d > limit else d
                    both = weight_a * np.rint(a) + weight_b * np.rint(b)
                    sums[j] += both + (weight_c * np.rint(c) + weight_d * np.rint(d))
            odd = 0
            for j in range(len(sums)):
                odd += sums[j] != sums[j]
            if odd == 0:
                for j in range(len(sums)):
                    total[j] += sums[j]
            else:
                _careful_rows(
                    table[first : first + 16, start:stop], weights[first : first + 16], middle, unit, limit, total
                )
        _careful_rows(table[sixteens:, start:stop], weights[sixteens:], middle, unit, limit, total)


def _careful_rows(table: Any, weights: Any, middle: Any, unit: Any, limit: Any, total: Any) -> None:
    """Row by row, with NaN cells counted as 0."""
    for i in range(len(weights)):
        row, weight = table[i], weights[i]
        for j in range(len(total)):
            a = (row[j] - middle[j]) * unit[j]
            a = -limit if a < -limit else a
            a = limit if a > limit else a
            a = a if a == a else limit - limit
            total[j] += weight * np.rint(a)

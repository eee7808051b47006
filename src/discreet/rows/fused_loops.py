"""Loops from the cells of a block to sums, a few hundred rows at a time, compiled by numba.

A tile of rows is encoded, mapped and summed while it is in a core's own cache: no array of encoded
rows is written. There is no version in numpy: without numba, and for blocks with other cells than
float64, the steps are those of ``linear_map.py`` and ``mapped.py``, with the same bits.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from discreet.rows.kernel_loops import digit_sums, weight_digits

_TILE = 512
# Rows of a table that is stored row by row, read at a time: their cells stay in the first-level
# cache until all columns are read.
_FEW_ROWS = 32
# Callees, and the liberties of the compiler in each: sums of whole numbers that are exact may be
# fused and added in any order, and nothing else may.
CALLED = {
    "encode_tile": False,
    "mapped_pair": {"contract"},
    "silent_line": False,
    "add_squares": False,
    "add_carried": False,
}


def cells_at(address: Any, cells: int) -> Any:
    """The float64 numbers from this address on; ``pointers`` has what numba compiles."""
    return np.ctypeslib.as_array((ctypes.c_double * cells).from_address(int(address)))


def pointers(numba: Any) -> None:
    """Have numba compile ``cells_at``."""

    def pointer(context: Any, address: Any) -> Any:
        kind = numba.types.CPointer(numba.types.float64)

        def code(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return builder.inttoptr(given[0], context.get_value_type(kind))

        return kind(address), code

    to_pointer = numba.extending.intrinsic(pointer)
    numba.extending.overload(cells_at)(
        lambda address, cells: lambda address, cells: numba.carray(to_pointer(address), cells)
    )


def encode_tile(addresses: Any, stride: int, start: int, size: int, scaling: Any, scale: float, tile: Any) -> None:
    """``size`` rows from ``start`` on as (1, x) in whole numbers, one line for each number."""
    tile[0, :size] = scale
    few = size if stride == 1 else _FEW_ROWS
    for begin in range(0, size, few):
        rows = min(few, size - begin)
        for column in range(len(addresses)):
            low, high, centre = scaling[0, column], scaling[1, column], scaling[2, column]
            worth, missing = scaling[3, column], np.rint(scaling[4, column] * scale)
            first = addresses[column] + np.uint64(8 * stride * (start + begin))
            cells, target = cells_at(first, (rows - 1) * stride + 1), tile[column + 1, begin : begin + rows]
            if stride == 1:
                for i in range(rows):
                    value = cells[i]
                    value = low if value < low else value
                    value = high if value > high else value
                    target[i] = np.rint((value - centre) * worth * scale)
            else:
                for i in range(rows):
                    value = cells[i * stride]
                    value = low if value < low else value
                    value = high if value > high else value
                    target[i] = np.rint((value - centre) * worth * scale)
            if missing == missing:
                for i in range(rows):
                    target[i] = target[i] if target[i] == target[i] else missing


def silent_line(tile: Any, size: int) -> None:
    """Make the first line NaN where another one is: outputs that skip zeros of the matrix are then
    NaN as well.
    """
    first = tile[0, :size]
    for line in range(1, len(tile)):
        values = tile[line, :size]
        for i in range(len(first)):
            first[i] += 0.0 * values[i]


def mapped_pair(one: Any, other: Any, start: int, stop: int, tile: Any, first: Any, second: Any) -> None:
    """Two outputs of a tile; coefficients of features are 0 outside [start, stop)."""
    size = len(first)
    constant = tile[0, :size]
    a, b = one[0], other[0]
    for i in range(len(first)):
        first[i] = a * constant[i]
        second[i] = b * constant[i]
    fours = (stop - start) // 4 * 4 + start
    for j in range(start, fours, 4):
        x0, x1, x2, x3 = tile[j, :size], tile[j + 1, :size], tile[j + 2, :size], tile[j + 3, :size]
        a0, a1, a2, a3 = one[j], one[j + 1], one[j + 2], one[j + 3]
        b0, b1, b2, b3 = other[j], other[j + 1], other[j + 2], other[j + 3]
        for i in range(len(first)):
            u0, u1, u2, u3 = x0[i], x1[i], x2[i], x3[i]
            first[i] += a0 * u0 + a1 * u1 + a2 * u2 + a3 * u3
            second[i] += b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3
    for j in range(fours, stop):
        x, a, b = tile[j, :size], one[j], other[j]
        for i in range(len(first)):
            first[i] += a * x[i]
            second[i] += b * x[i]


def add_squares(values: Any, squares: Any) -> None:
    for i in range(len(squares)):
        squares[i] += values[i] * values[i]


def map_cells(
    addresses: Any, stride: int, scaling: Any, scale: float, matrix: Any, spans: Any, skipped: int, out: Any, norms: Any
) -> None:
    """The matrix times (1, x): the first outputs into ``out``, as many as it has lines, and the
    norm of all but the ``skipped`` first. ``spans``: where each output has coefficients that are
    not 0.
    """
    outputs, inputs = matrix.shape
    tile, spare = np.empty((inputs, _TILE)), np.empty((2, _TILE))
    whole = spans[:, 0].max() <= 1 and spans[:, 1].min() >= inputs
    for start in range(0, len(norms), _TILE):
        squares = norms[start : start + _TILE]
        size = len(squares)
        encode_tile(addresses, stride, start, size, scaling, scale, tile)
        if not whole:
            silent_line(tile, size)
        for output in range(0, outputs, 2):
            other = min(output + 1, outputs - 1)
            first = out[output, start : start + size] if output < len(out) else spare[0, :size]
            second = out[other, start : start + size] if output < other < len(out) else spare[1, :size]
            begin, end = min(spans[output, 0], spans[other, 0]), max(spans[output, 1], spans[other, 1])
            mapped_pair(matrix[output], matrix[other], begin, end, tile, first, second)
            if output >= skipped:
                add_squares(first, squares)
            if other > output and other >= skipped:
                add_squares(second, squares)
        for i in range(size):
            squares[i] = np.sqrt(squares[i])


def add_carried(total: Any, high: Any, low: Any) -> None:
    """Move exact sums into a pair of integers, worth 2^26 and 1."""
    for digit in range(total.shape[0]):
        for line in range(total.shape[1]):
            whole = np.int64(total[digit, line])
            high[digit, line] += whole >> 26
            low[digit, line] += whole & (2**26 - 1)
            total[digit, line] = 0.0


def sum_cells(
    addresses: Any,
    stride: int,
    scaling: Any,
    scale: float,
    weight: Any,
    length: Any,
    bound: float,
    shortest: float,
    weight_scale: float,
    digit: float,
    exact_rows: int,
    high: Any,
    low: Any,
) -> None:
    """``weighted_sum`` of rows (1, x), added to pairs of integers after every ``exact_rows``."""
    tile, digits = np.zeros((len(addresses) + 1, _TILE)), np.zeros((3, _TILE))
    total = np.zeros((3, len(addresses) + 1))
    for start in range(0, len(weight), _TILE):
        if start % exact_rows == 0:
            add_carried(total, high, low)
        weights, lengths = weight[start : start + _TILE], length[start : start + _TILE]
        encode_tile(addresses, stride, start, len(weights), scaling, scale, tile)
        weight_digits(weights, lengths, bound, shortest, weight_scale, digit, digits)
        digits[:, len(weights) :] = 0.0
        digit_sums(tile, digits, total)
    add_carried(total, high, low)

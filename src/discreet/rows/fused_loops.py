"""Loops from the cells of a block to sums, a few hundred rows at a time, compiled by numba.

A tile of rows is encoded, mapped and summed while it is in a core's own cache: no array of encoded
rows is written. There is no version in numpy: without numba, and for blocks with other cells than
float64, the steps are those of ``linear_map.py`` and ``mapped.py``, with the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.cells import cells_at
from discreet.rows.kernel_loops import aligned, digit_sums, weight_digits
from discreet.rows.turn_loops import are_neighbours, turn_tile

NAMES = ("encode_cells", "map_cells", "sum_cells", "product_digest")
_TILE = 512
_NOT_A_NUMBER = np.uint64(0x7FF8000000000000)
# Callees, and the liberties of the compiler in each: sums of whole numbers that are exact may be
# fused and added in any order, and nothing else may.
CALLED = {
    "gather_tile": False,
    "encode_tile": False,
    "mapped_four": {"contract"},
    "mapped_one": {"contract"},
    "silent_line": False,
    "add_squares": False,
    "add_four_squares": False,
    "spans_of_four": False,
    "map_tile": False,
    "add_carried": False,
    "by_value": False,
}


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


def gather_tile(addresses: Any, stride: int, start: int, size: int, tile: Any) -> None:
    """Cells that are ``stride`` apart, a line for each column below the first: four columns at a
    time, as neighbours mostly share a cache line.
    """
    columns, skipped, reach = len(addresses), np.uint64(8 * stride * start), (size - 1) * stride + 1
    for step in range(0, columns // 4 * 4, 4):
        a, b = cells_at(addresses[step] + skipped, reach), cells_at(addresses[step + 1] + skipped, reach)
        c, d = cells_at(addresses[step + 2] + skipped, reach), cells_at(addresses[step + 3] + skipped, reach)
        first, second = tile[step + 1, :size], tile[step + 2, :size]
        third, fourth = tile[step + 3, :size], tile[step + 4, :size]
        for i in range(size):
            first[i], second[i] = a[i * stride], b[i * stride]
            third[i], fourth[i] = c[i * stride], d[i * stride]
    for column in range(columns // 4 * 4, columns):
        cells, target = cells_at(addresses[column] + skipped, reach), tile[column + 1, :size]
        for i in range(size):
            target[i] = cells[i * stride]


def encode_tile(addresses: Any, stride: int, start: int, size: int, scaling: Any, scale: float, tile: Any) -> None:
    """``size`` rows from ``start`` on as (1, x) in whole numbers, one line for each number; for a
    scale of 0, in numbers as they are.
    """
    whole, one = scale > 0.0, scale if scale > 0.0 else 1.0
    tile[0, :size] = one
    if stride != 1:
        if are_neighbours(addresses):
            turn_tile(addresses, stride, start, size, tile)
        else:
            gather_tile(addresses, stride, start, size, tile)
    for column in range(len(addresses)):
        low, high, centre = scaling[0, column], scaling[1, column], scaling[2, column]
        worth, missing = scaling[3, column], scaling[4, column] * one
        missing, target = np.rint(missing) if whole else missing, tile[column + 1, :size]
        if stride == 1:
            cells = cells_at(addresses[column] + np.uint64(8 * start), size)
            for i in range(size):
                value = cells[i]
                value = low if value < low else value
                value = high if value > high else value
                value = (value - centre) * worth * one
                target[i] = np.rint(value) if whole else value
        else:
            for i in range(size):
                value = target[i]
                value = low if value < low else value
                value = high if value > high else value
                value = (value - centre) * worth * one
                target[i] = np.rint(value) if whole else value
        if missing == missing:
            for i in range(size):
                target[i] = target[i] if target[i] == target[i] else missing


def encode_cells(addresses: Any, stride: int, scaling: Any, out: Any, norms: Any) -> None:
    """Encoded rows, and the norm of each."""
    tile, sums = aligned(len(addresses) + 1, _TILE), aligned(1, _TILE)
    for start in range(0, len(norms), _TILE):
        squares = sums[0, : min(_TILE, len(norms) - start)]
        squares[:] = 0.0
        encode_tile(addresses, stride, start, len(squares), scaling, 0.0, tile)
        for column in range(len(out)):
            values = tile[column + 1, : len(squares)]
            out[column, start : start + _TILE] = values
            add_squares(values, squares)
        for i in range(len(squares)):
            norms[start + i] = np.sqrt(squares[i])


def silent_line(tile: Any, size: int) -> None:
    """Make the first line NaN where another one is: outputs that skip zeros of the matrix are then
    NaN as well.
    """
    first, fours = tile[0, :size], (len(tile) - 1) // 4 * 4 + 1
    for line in range(1, fours, 4):
        a, b, c, d = tile[line, :size], tile[line + 1, :size], tile[line + 2, :size], tile[line + 3, :size]
        for i in range(len(first)):
            first[i] += 0.0 * a[i] + 0.0 * b[i] + 0.0 * c[i] + 0.0 * d[i]
    for line in range(fours, len(tile)):
        values = tile[line, :size]
        for i in range(len(first)):
            first[i] += 0.0 * values[i]


def mapped_four(matrix: Any, output: int, start: int, stop: int, tile: Any, size: int, lines: Any) -> None:
    """Four outputs of a tile; coefficients of features are 0 outside [start, stop)."""
    one, two, three, four = matrix[output], matrix[output + 1], matrix[output + 2], matrix[output + 3]
    first, second, third, fourth = lines[0, :size], lines[1, :size], lines[2, :size], lines[3, :size]
    a, b, c, d = one[0], two[0], three[0], four[0]
    x = tile[0, :size]
    for i in range(len(x)):
        first[i], second[i], third[i], fourth[i] = a * x[i], b * x[i], c * x[i], d * x[i]
    fours = (stop - start) // 4 * 4 + start
    for j in range(start, fours, 4):
        x0, x1, x2, x3 = tile[j, :size], tile[j + 1, :size], tile[j + 2, :size], tile[j + 3, :size]
        a0, a1, a2, a3 = one[j], one[j + 1], one[j + 2], one[j + 3]
        b0, b1, b2, b3 = two[j], two[j + 1], two[j + 2], two[j + 3]
        c0, c1, c2, c3 = three[j], three[j + 1], three[j + 2], three[j + 3]
        d0, d1, d2, d3 = four[j], four[j + 1], four[j + 2], four[j + 3]
        for i in range(len(x)):
            u0, u1, u2, u3 = x0[i], x1[i], x2[i], x3[i]
            first[i] = first[i] + a0 * u0 + a1 * u1 + a2 * u2 + a3 * u3
            second[i] = second[i] + b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3
            third[i] = third[i] + c0 * u0 + c1 * u1 + c2 * u2 + c3 * u3
            fourth[i] = fourth[i] + d0 * u0 + d1 * u1 + d2 * u2 + d3 * u3
    for j in range(fours, stop):
        x, a, b, c, d = tile[j, :size], one[j], two[j], three[j], four[j]
        for i in range(len(x)):
            first[i] += a * x[i]
            second[i] += b * x[i]
            third[i] += c * x[i]
            fourth[i] += d * x[i]


def spans_of_four(spans: Any) -> Any:
    """Where any of four outputs has coefficients that are not 0, and where the first ones have, of
    which there are fewer than four.
    """
    joint = spans.copy()
    for output in range(len(spans) % 4, len(spans), 4):
        joint[output, 0], joint[output, 1] = spans[output : output + 4, 0].min(), spans[output : output + 4, 1].max()
    return joint


def mapped_one(coefficients: Any, start: int, stop: int, tile: Any, line: Any) -> None:
    """One output of a tile."""
    size = len(line)
    x, a = tile[0, :size], coefficients[0]
    for i in range(len(line)):
        line[i] = a * x[i]
    fours = (stop - start) // 4 * 4 + start
    for j in range(start, fours, 4):
        x0, x1, x2, x3 = tile[j, :size], tile[j + 1, :size], tile[j + 2, :size], tile[j + 3, :size]
        a0, a1, a2, a3 = coefficients[j], coefficients[j + 1], coefficients[j + 2], coefficients[j + 3]
        for i in range(len(line)):
            line[i] = line[i] + a0 * x0[i] + a1 * x1[i] + a2 * x2[i] + a3 * x3[i]
    for j in range(fours, stop):
        x, a = tile[j, :size], coefficients[j]
        for i in range(len(line)):
            line[i] += a * x[i]


def add_four_squares(lines: Any, squares: Any) -> None:
    """``add_squares`` of four lines, one after the other."""
    size = len(squares)
    first, second, third, fourth = lines[0, :size], lines[1, :size], lines[2, :size], lines[3, :size]
    for i in range(size):
        total = squares[i] + first[i] * first[i]
        total += second[i] * second[i]
        total += third[i] * third[i]
        squares[i] = total + fourth[i] * fourth[i]


def add_squares(values: Any, squares: Any) -> None:
    for i in range(len(squares)):
        squares[i] += values[i] * values[i]


def map_tile(matrix: Any, spans: Any, skipped: int, whole: bool, tile: Any, size: int, z: Any, norms: Any) -> None:
    """All outputs of a tile, and the norm of all but the ``skipped`` first;
    ``spans`` are those of ``spans_of_four``.
    """
    if not whole:
        silent_line(tile, size)
    outputs = len(matrix)
    ones = outputs % 4  # first: a predictor and a constant have other spans than coordinates
    for i in range(len(norms)):
        norms[i] = 0.0
    for output in range(ones):
        mapped_one(matrix[output], spans[output, 0], spans[output, 1], tile, z[output, :size])
        if output >= skipped:
            add_squares(z[output, :size], norms)
    for output in range(ones, outputs, 4):
        lines = z[output : output + 4]
        mapped_four(matrix, output, spans[output, 0], spans[output, 1], tile, size, lines)
        if output >= skipped:
            add_four_squares(lines, norms)
        else:
            for line in range(skipped - output, 4):
                add_squares(lines[line, :size], norms)
    for i in range(len(norms)):
        norms[i] = np.sqrt(norms[i])


def map_cells(
    addresses: Any, stride: int, scaling: Any, scale: float, matrix: Any, spans: Any, skipped: int, out: Any, norms: Any
) -> None:
    """The matrix times (1, x): the first outputs into ``out``, as many as it has lines, and the
    norm of all but the ``skipped`` first. ``spans``: where each output has coefficients that are
    not 0.
    """
    outputs, inputs = matrix.shape
    tile, z = aligned(inputs, _TILE), aligned(outputs, _TILE)
    whole, spans = spans[:, 0].max() <= 1 and spans[:, 1].min() >= inputs, spans_of_four(spans)
    for start in range(0, len(norms), _TILE):
        size = min(_TILE, len(norms) - start)
        encode_tile(addresses, stride, start, size, scaling, scale, tile)
        map_tile(matrix, spans, skipped, whole, tile, size, z, norms[start : start + size])
        for output in range(len(out)):
            out[output, start : start + size] = z[output, :size]


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
    tile, digits = aligned(len(addresses) + 1, _TILE), aligned(3, _TILE)
    tile[:] = 0.0
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


def by_value(word: Any, number: bool) -> Any:
    """The bits of a cell, which are the same for all NaNs and for 0 and -0 if it is a number."""
    if number:
        word = np.uint64(0) if word == np.uint64(0x8000000000000000) else word
        word = word if (word & np.uint64(0x7FFFFFFFFFFFFFFF)) <= np.uint64(0x7FF0000000000000) else _NOT_A_NUMBER
    return word


def product_digest(addresses: Any, floats: Any, keys: Any, used: Any) -> Any:
    """See kernels.py."""
    half, total, hashes = np.uint64(0xFFFFFFFF), np.uint64(0), aligned(1, _TILE)[0].view(np.uint64)
    for start in range(0, len(used), _TILE):
        some = used[start : start + _TILE]
        state = hashes[: len(some)]
        state[:] = 0
        for column in range(len(addresses)):
            words = cells_at(addresses[column] + np.uint64(8 * start), len(some)).view(np.uint64)
            number, first, second = floats[column], keys[column, 0], keys[column, 1]
            for i in range(len(state)):
                word = by_value(words[i], number)
                state[i] += ((word + first) & half) * (((word >> np.uint64(32)) + second) & half)
        for i in range(len(state)):
            value = state[i] * np.uint64(0xBF58476D1CE4E5B9)
            value = (value ^ (value >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
            total += (value ^ (value >> np.uint64(32))) * np.uint64(some[i])
    return total

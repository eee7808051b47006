"""The inner loops over a block, compiled by numba; ``kernels.py`` documents
each and has it in numpy.

They slice first and index from zero: only then does the compiler know that no index is negative,
and vectorise over records.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TILE = 128  # records whose entries stay in the first-level cache through all steps
_WIDE = 512  # records whose entries stay in the second-level cache
_ANY_ORDER = {"reassoc", "contract"}
# What other loops call, and the liberties of the compiler in each. Contraction and reordering would
# change bits, except in sums of whole numbers so small that every partial sum is exact.
CALLED = {
    "aligned": False,
    "place_tile": False,
    "square_sums": False,
    "lower_squares": _ANY_ORDER,
    "mirror": False,
    "digit_sums": _ANY_ORDER,
    "weight_digits": False,
    "whole_sum": _ANY_ORDER,
    "whole_products": False,
    "sum_placed": False,
}


def aligned(lines: int, size: int) -> Any:
    """Uninitialised lines of float64 that begin where a cache line does, if their size is a
    multiple of 8: a vector that crosses two takes twice as long.
    """
    room = np.empty(lines * size + 8)
    skipped = (64 - room.ctypes.data % 64) // 8
    return room[skipped : skipped + lines * size].reshape((lines, size))


def encode_table(
    table: Any, low: Any, high: Any, centre: Any, per_unit: Any, scale: float, whole: bool, out: Any
) -> None:
    records, columns = table.shape
    tile = 32
    for start in range(0, records, tile):
        rows = table[start : start + tile]
        for column in range(columns):
            target = out[column, start : start + tile]
            # Local copies: the compiler cannot know that writing the target does
            # not change these arrays.
            least, most, middle, worth = low[column], high[column], centre[column], per_unit[column]
            for i in range(len(target)):
                value = np.float64(rows[i, column])
                value = least if value < least else value
                value = most if value > most else value
                target[i] = (value - middle) * worth * scale
            if whole:
                for i in range(len(target)):
                    target[i] = np.rint(target[i])


def encode_column(
    cells: Any, low: float, high: float, centre: float, per_unit: float, scale: float, whole: bool, out: Any
) -> None:
    for start in range(0, len(out), 8 * _TILE):
        line, target = cells[start : start + 8 * _TILE], out[start : start + 8 * _TILE]
        for i in range(len(target)):
            value = line[i]
            value = low if value < low else value
            value = high if value > high else value
            target[i] = (value - centre) * per_unit * scale
        if whole:
            for i in range(len(target)):
                target[i] = np.rint(target[i])


def shorten(x: Any, centre: Any, per_unit: float, radius: float, shrink: Any) -> None:
    for start in range(0, x.shape[1], _TILE):
        factors = shrink[start : start + _TILE]
        for entry in range(x.shape[0]):
            values = x[entry, start : start + _TILE]
            for i in range(len(values)):
                values[i] = (values[i] - centre[entry]) * per_unit
            for i in range(len(values)):
                factors[i] += values[i] * values[i]
        for i in range(len(factors)):
            norm = np.sqrt(factors[i])
            factors[i] = radius / (radius if norm < radius else norm)
        for entry in range(x.shape[0]):
            values = x[entry, start : start + _TILE]
            for i in range(len(values)):
                values[i] *= factors[i]


def place(factor: Any, norm_bound: float, scale: float, seed: Any, norms: Any) -> None:
    clip = np.empty(_TILE)
    dither = np.empty(_TILE)
    for start in range(0, factor.shape[1], _TILE):
        tile_norms = norms[start : start + _TILE]
        tile_seed = seed[start : start + _TILE]
        for entry in range(factor.shape[0]):
            values = factor[entry, start : start + _TILE]
            for i in range(len(values)):
                tile_norms[i] += values[i] * values[i]
        for i in range(len(tile_norms)):
            norm = np.sqrt(tile_norms[i])
            tile_norms[i] = norm
            low_bits = (norm / norm_bound + tile_seed[i]) * 268435456.0
            dither[i] = low_bits - np.floor(low_bits)
            clip[i] = norm_bound / (norm_bound if norm < norm_bound else norm) * scale
        for entry in range(factor.shape[0]):
            values = factor[entry, start : start + _TILE]
            for i in range(len(values)):
                values[i] = np.floor(values[i] * clip[i] + dither[i])
        for i in range(len(tile_norms)):
            if not np.isfinite(tile_norms[i]):
                factor[:, start + i] = 0.0


def place_weighted(rows: Any, weight: Any, last: Any, start: int, norm_bound: float, scale: float, out: Any) -> None:
    tile = aligned(len(out), _WIDE)
    for begin in range(0, out.shape[1], _WIDE):
        size = min(_WIDE, out.shape[1] - begin)
        place_tile(rows, weight, last, start + begin, size, norm_bound, scale, tile)
        for entry in range(len(out)):
            out[entry, begin : begin + size] = tile[entry, :size]


def place_tile(
    rows: Any, weight: Any, last: Any, start: int, size: int, norm_bound: float, scale: float, tile: Any
) -> None:
    """``size`` weighted records from ``start`` on, with a last line below them."""
    lines = aligned(4, _WIDE)
    weights, squares, clip, dither = lines[0, :size], lines[1, :size], lines[2, :size], lines[3, :size]
    weights[:] = weight[start : start + size]
    squares[:] = 0.0
    for entry in range(len(rows)):
        values, target = rows[entry, start : start + size], tile[entry, :size]
        for i in range(size):
            value = values[i] * weights[i]
            target[i] = value
            squares[i] += value * value
    if len(last):
        values, target = last[start : start + size], tile[len(rows), :size]
        for i in range(size):
            target[i] = values[i]
            squares[i] += values[i] * values[i]
    silent = 0
    for i in range(size):
        norm = np.sqrt(squares[i])
        squares[i] = norm
        low_bits = (norm / norm_bound + 0.0) * 268435456.0
        dither[i] = low_bits - np.floor(low_bits)
        clip[i] = norm_bound / (norm_bound if norm < norm_bound else norm) * scale
        silent += 0 if np.isfinite(norm) else 1
    for entry in range(len(tile)):
        target = tile[entry, :size]
        for i in range(size):
            target[i] = np.floor(target[i] * clip[i] + dither[i])
    for entry in range(len(tile) if silent else 0):
        target = tile[entry, :size]
        for i in range(size):
            target[i] = target[i] if np.isfinite(squares[i]) else 0.0


def weighted_squares(
    rows: Any, weight: Any, last: Any, used: Any, norm_bound: float, scale: float, high: Any, low: Any
) -> None:
    tile, all_used = aligned(len(high), _WIDE), used.all()
    for start in range(0, len(weight), _WIDE):
        size = min(_WIDE, len(weight) - start)
        place_tile(rows, weight, last, start, size, norm_bound, scale, tile)
        tile[:, size:] = 0.0
        for entry in range(0 if all_used else len(tile)):
            target, some = tile[entry, :size], used[start : start + size]
            for i in range(size):
                target[i] = target[i] if some[i] else 0.0
        lower_squares(tile, high, low)
    mirror(high, low)


def placed_sums(
    head: Any,
    body: Any,
    norm_bound: float,
    scale: float,
    seed: float,
    one_bound: float,
    one_scale: float,
    one_seed: float,
    used: Any,
    half: float,
    sums: Any,
    rest: Any,
) -> None:
    tile, work = aligned(len(head) + len(body), _WIDE), aligned(6, _WIDE)
    grids = np.array([norm_bound, scale, seed, one_bound, one_scale, one_seed])
    for start in range(0, len(used), _WIDE):
        some = used[start : start + _WIDE]
        for entry in range(len(head)):
            tile[entry, : len(some)] = head[entry, start : start + _WIDE]
        for entry in range(len(body)):
            tile[len(head) + entry, : len(some)] = body[entry, start : start + _WIDE]
        sum_placed(tile, some, grids, half, work, sums, rest)


def sum_placed(tile: Any, some: Any, grids: Any, half: float, work: Any, sums: Any, rest: Any) -> None:
    """``placed_sums`` of the records of a tile."""
    norm_bound, scale, seed, one_bound, one_scale, one_seed = grids[0], grids[1], grids[2], grids[3], grids[4], grids[5]
    clip, dither, high, low = work[0], work[1], work[4], work[5]
    squares, beyond = work[2, : len(some)], work[3, : len(some)]
    one_clip = one_bound / (one_bound if one_bound > 1.0 else 1.0) * one_scale
    squares[:] = 0.0
    for entry in range(len(tile)):
        values = tile[entry, : len(some)]
        for i in range(len(values)):
            squares[i] += values[i] * values[i]
    odd = 0
    for i in range(len(squares)):
        norm = np.sqrt(squares[i])
        low_bits = (norm / norm_bound + seed) * 268435456.0
        dither[i] = low_bits - np.floor(low_bits)
        clip[i] = norm_bound / (norm_bound if norm < norm_bound else norm) * scale
        finite = np.isfinite(norm)
        low_bits = (1.0 / one_bound + (norm if finite else 0.0) * one_seed) * 268435456.0
        beyond[i] = np.floor(one_clip + (low_bits - np.floor(low_bits))) - one_scale
        squares[i] = 1.0 if finite and some[i] else 0.0
        odd += beyond[i] != 0.0
    for entry in range(len(tile)):
        values = tile[entry, : len(some)]
        for i in range(len(squares)):
            value = np.floor(values[i] * clip[i] + dither[i])
            high[i] = value if squares[i] > 0.0 else 0.0
        if len(sums) == 2:
            for i in range(len(squares)):
                value = high[i]
                above = np.floor(value * (1 / half))
                high[i], low[i] = above, value - above * half
            sums[1, entry] += np.int64(whole_sum(low[: len(squares)]))
            if odd:
                rest[1, entry] += whole_products(low[: len(squares)], beyond)
        sums[0, entry] += np.int64(whole_sum(high[: len(squares)]))
        if odd:
            rest[0, entry] += whole_products(high[: len(squares)], beyond)


def whole_products(values: Any, others: Any) -> Any:
    total = np.int64(0)
    for i in range(len(values)):
        total += np.int64(values[i] * others[i])
    return total


def whole_sum(values: Any) -> Any:
    """Of at most a tile of whole numbers of 22 bits."""
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return total


def count_cells(cells: Any, used: Any, counts: Any) -> None:
    number = counts.shape[1]
    valid, found = np.empty(8 * _TILE, dtype=np.int64), np.empty((4, number + 1), dtype=np.int64)
    # Four counts in turns: an addition need not wait for the one before it.
    first, second, third, fourth = found[0], found[1], found[2], found[3]
    for line in range(len(cells)):
        found[:] = 0
        for start in range(0, len(used), len(valid)):
            given, some = cells[line, start : start + len(valid)], used[start : start + len(valid)]
            for i in range(len(some)):
                valid[i] = given[i] if (given[i] >= 0) & (given[i] < number) & some[i] else number
            fours = len(some) // 4 * 4
            for i in range(0, fours, 4):
                first[valid[i]] += 1
                second[valid[i + 1]] += 1
                third[valid[i + 2]] += 1
                fourth[valid[i + 3]] += 1
            for i in range(fours, len(some)):
                first[valid[i]] += 1
        for cell in range(number):
            counts[line, cell] += first[cell] + second[cell] + third[cell] + fourth[cell]


def cell_sums(cell: Any, used: Any, lines: Any, half: float, sums: Any) -> None:
    number = sums.shape[2]
    for line in range(len(lines)):
        values, high, low = lines[line], sums[0, line], sums[len(sums) - 1, line]
        for i in range(len(cell)):
            if cell[i] >= 0 and cell[i] < number and used[i]:
                above = np.floor(values[i] * (1 / half)) if len(sums) > 1 else 0.0
                high[cell[i]] += np.int64(above)
                low[cell[i]] += np.int64(values[i] - above * half)


def even_cells(x: Any, silent: Any, number: int, cells: Any) -> None:
    half, last = number / 2, number - 1.0
    for line in range(len(x)):
        for start in range(0, len(silent), 8 * _TILE):
            values, quiet = x[line, start : start + 8 * _TILE], silent[start : start + 8 * _TILE]
            found = cells[line, start : start + 8 * _TILE]
            for i in range(len(quiet)):
                place = values[i] * half + half
                place = 0.0 if place < 0.0 else place
                place = (last if place > last else place) + quiet[i]
                found[i] = np.int64(place if place == place else -1.0)


def weight_digits(
    weight: Any, length: Any, bound: float, shortest: float, scale: float, digit: float, digits: Any
) -> None:
    high, middle, low = digits[0], digits[1], digits[2]
    for i in range(len(weight)):
        norm, value = length[i], weight[i]
        most = bound / (shortest if norm < shortest else norm)
        value = -most if value < -most else value
        value = most if value > most else value
        value = np.trunc(value * scale)
        value = value if np.isfinite(value) and np.isfinite(norm) else 0.0
        above = np.floor(value * (1 / digit))
        highest = np.floor(above * (1 / digit))
        high[i], middle[i], low[i] = highest, above - highest * digit, value - above * digit


def digit_sums(lines: Any, digits: Any, total: Any) -> None:
    tile = 8 * _TILE  # their digits stay in the first-level cache while every line is processed
    for start in range(0, lines.shape[1], tile):
        first, second, third = (
            digits[0, start : start + tile],
            digits[1, start : start + tile],
            digits[2, start : start + tile],
        )
        for entry in range(len(lines)):
            values = lines[entry, start : start + tile]
            high = middle = low = 0.0
            for i in range(len(values)):
                value = values[i] if values[i] == values[i] else 0.0  # a NaN record has no weight
                high += value * first[i]
                middle += value * second[i]
                low += value * third[i]
            total[0, entry] += high
            total[1, entry] += middle
            total[2, entry] += low


def square_sums(factor: Any, high: Any, low: Any) -> None:
    lower_squares(factor, high, low)
    mirror(high, low)


def lower_squares(factor: Any, high: Any, low: Any) -> None:
    """``square_sums`` of entries up to the diagonal; those above it are left to ``mirror``.

    4 x 4 entries of the square at a time; what four do not divide is added line by line.
    """
    size, records = factor.shape
    sums, fours = np.zeros((size, size)), size // 4 * 4
    all_sums, all_high, all_low = sums.reshape(size * size), high.reshape(size * size), low.reshape(size * size)
    for start in range(0, records, 512):
        stop = min(start + 512, records)
        for row in range(0, fours, 4):
            a0, a1 = factor[row, start:stop], factor[row + 1, start:stop]
            a2, a3 = factor[row + 2, start:stop], factor[row + 3, start:stop]
            for column in range(0, row + 1, 4):
                b0, b1 = factor[column, start:stop], factor[column + 1, start:stop]
                b2, b3 = factor[column + 2, start:stop], factor[column + 3, start:stop]
                s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
                s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
                for i in range(len(a0)):
                    u0, u1, u2, u3 = a0[i], a1[i], a2[i], a3[i]
                    v0, v1, v2, v3 = b0[i], b1[i], b2[i], b3[i]
                    s00 += u0 * v0
                    s01 += u0 * v1
                    s02 += u0 * v2
                    s03 += u0 * v3
                    s10 += u1 * v0
                    s11 += u1 * v1
                    s12 += u1 * v2
                    s13 += u1 * v3
                    s20 += u2 * v0
                    s21 += u2 * v1
                    s22 += u2 * v2
                    s23 += u2 * v3
                    s30 += u3 * v0
                    s31 += u3 * v1
                    s32 += u3 * v2
                    s33 += u3 * v3
                sums[row, column : column + 4] = s00, s01, s02, s03
                sums[row + 1, column : column + 4] = s10, s11, s12, s13
                sums[row + 2, column : column + 4] = s20, s21, s22, s23
                sums[row + 3, column : column + 4] = s30, s31, s32, s33
        for row in range(fours, size):
            a0 = factor[row, start:stop]
            for step in range(0, row + 1, 4):
                column = min(step, size - 4)
                b0, b1 = factor[column, start:stop], factor[column + 1, start:stop]
                b2, b3 = factor[column + 2, start:stop], factor[column + 3, start:stop]
                s00 = s01 = s02 = s03 = 0.0
                for i in range(len(a0)):
                    s00 += a0[i] * b0[i]
                    s01 += a0[i] * b1[i]
                    s02 += a0[i] * b2[i]
                    s03 += a0[i] * b3[i]
                sums[row, column : column + 4] = s00, s01, s02, s03
        for entry in range(size * size):
            whole = np.int64(all_sums[entry])
            all_high[entry] += whole >> 26
            all_low[entry] += whole & (2**26 - 1)


def mirror(high: Any, low: Any) -> None:
    """Copy entries below the diagonal to those above it."""
    for row in range(len(high)):
        for column in range(row):
            high[column, row], low[column, row] = high[row, column], low[row, column]


def cells_between(values: Any, edges: Any, cells: Any) -> None:
    tile = 8 * _TILE
    for start in range(0, len(values), tile):
        some, found = values[start : start + tile], cells[start : start + tile]
        for i in range(len(some)):
            found[i] = 0 if some[i] == some[i] else -1
        fours = len(edges) // 4 * 4
        for number in range(0, fours, 4):
            a, b, c, d = edges[number], edges[number + 1], edges[number + 2], edges[number + 3]
            for i in range(len(some)):
                found[i] += (
                    np.int64(a < some[i]) + np.int64(b < some[i]) + np.int64(c < some[i]) + np.int64(d < some[i])
                )
        for number in range(fours, len(edges)):
            edge = edges[number]
            for i in range(len(some)):
                found[i] += edge < some[i]


def column_norms(factor: Any, first: int, norms: Any) -> None:
    for start in range(0, len(norms), _TILE):
        squares = norms[start : start + _TILE]
        begin = first + start
        for entry in range(factor.shape[0]):
            values = factor[entry, begin : begin + len(squares)]
            for i in range(len(values)):
                squares[i] += values[i] * values[i]
        for i in range(len(squares)):
            squares[i] = np.sqrt(squares[i])


def fold_floats(state: Any, words: Any) -> None:
    for start in range(0, len(state), _TILE):
        hashes = state[start : start + _TILE]
        for column in range(len(words)):
            line = words[column, start : start + _TILE]
            for i in range(len(hashes)):
                word = line[i]
                if (word & 0x7FFFFFFFFFFFFFFF) > 0x7FF0000000000000:  # any NaN
                    word = np.uint64(0x7FF8000000000000)
                elif word == 0x8000000000000000:  # -0
                    word = np.uint64(0)
                value = (hashes[i] ^ word) * np.uint64(0xBF58476D1CE4E5B9)
                value = (value ^ (value >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
                hashes[i] = value ^ (value >> np.uint64(32))


def fold_words(state: Any, words: Any) -> None:
    for i in range(len(state)):
        value = (state[i] ^ words[i]) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
        state[i] = value ^ (value >> np.uint64(32))

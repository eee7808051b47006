"""The inner loops over a block as numba compiles them; ``kernels.py`` says what each does, and has its twin in numpy.

They slice first and index from zero: only then does the compiler know that no index is negative, and works on several
records at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TILE = 128  # records whose entries stay in the first cache from the first step to the last


def encode_table(table: Any, low: Any, high: Any, centre: Any, per_unit: Any, out: Any) -> None:
    records, columns = table.shape
    tile = 32
    for start in range(0, records, tile):
        rows = table[start : start + tile]
        for column in range(columns):
            target = out[column, start : start + tile]
            # The compiler cannot know that writing the target leaves these as they are.
            least, most, middle, worth = low[column], high[column], centre[column], per_unit[column]
            for i in range(len(target)):
                value = np.float64(rows[i, column])
                value = least if value < least else value
                value = most if value > most else value
                target[i] = (value - middle) * worth


def encode_lines(lines: Any, low: Any, high: Any, centre: Any, per_unit: Any, out: Any) -> None:
    for column in range(len(lines)):
        line, target = lines[column], out[column]
        least, most, middle, worth = low[column], high[column], centre[column], per_unit[column]
        for i in range(len(target)):
            value = line[i]
            value = least if value < least else value
            value = most if value > most else value
            target[i] = (value - middle) * worth


def encode_lines_whole(lines: Any, low: Any, high: Any, centre: Any, per_unit: Any, scale: float, out: Any) -> None:
    # So few records that what is written of them stays in the first cache while every column is written to it.
    tile = 64
    whole = np.empty(tile)
    for start in range(0, len(out), tile):
        rows = out[start : start + tile]
        for i in range(len(rows)):
            rows[i, 0] = scale
        for column in range(len(lines)):
            line = lines[column, start : start + tile]
            least, most, middle, worth = low[column], high[column], centre[column], per_unit[column]
            for i in range(len(line)):
                value = line[i]
                value = least if value < least else value
                value = most if value > most else value
                whole[i] = np.rint((value - middle) * worth * scale)
            for i in range(len(line)):
                rows[i, column + 1] = whole[i]


def turned(x: Any, scale: float, out: Any) -> None:
    # So few records that their lines stay in the first cache while every entry is written to them.
    tile = 32
    for start in range(0, x.shape[1], tile):
        lines = out[start : start + tile]
        for i in range(len(lines)):
            lines[i, 0] = scale
        for entry in range(x.shape[0]):
            values = x[entry, start : start + tile]
            for i in range(len(values)):
                lines[i, entry + 1] = np.rint(values[i] * scale)


def encode_rows(table: Any, low: Any, high: Any, centre: Any, per_unit: Any, scale: float, out: Any) -> None:
    for record in range(len(table)):
        row, target = table[record], out[record]
        target[0] = scale
        for i in range(len(row)):
            value = np.float64(row[i])
            value = low[i] if value < low[i] else value
            value = high[i] if value > high[i] else value
            target[i + 1] = np.rint((value - centre[i]) * per_unit[i] * scale)


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


def weighted_sum(
    rows: Any, weight: Any, length: Any, bound: float, shortest: float, scale: float, digit: float, total: Any
) -> None:
    high, middle, low = total[0], total[1], total[2]
    for i in range(len(rows)):
        norm, value = length[i], weight[i]
        most = bound / (shortest if norm < shortest else norm)
        value = -most if value < -most else value
        value = most if value > most else value
        value = np.trunc(value * scale)
        if not (np.isfinite(value) and np.isfinite(norm)):
            continue
        above = np.floor(value * (1 / digit))
        highest = np.floor(above * (1 / digit))
        above, value = above - highest * digit, value - above * digit
        row = rows[i]
        for j in range(len(row)):
            high[j] += row[j] * highest
            middle[j] += row[j] * above
            low[j] += row[j] * value


def scaled_norms(factor: Any, unit: Any, skipped: int, norms: Any) -> None:
    for start in range(0, factor.shape[1], _TILE):
        squares = norms[start : start + _TILE]
        for entry in range(factor.shape[0]):
            values = factor[entry, start : start + _TILE]
            for i in range(len(values)):
                values[i] *= unit[entry]
            if entry >= skipped:
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

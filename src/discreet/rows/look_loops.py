"""One loop from the cells of a block to the sums and histograms of a first look.

It has the bits of ``PowerSums`` and ``ColumnHistograms`` one by one, which is how numpy finds them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.fused_loops import add_four_squares, add_squares, encode_tile
from discreet.rows.kernel_loops import aligned, sum_placed

NAMES = ("look_pass",)
_TILE = 480
CALLED = {"own_lines": False, "count_columns": False}


def own_lines(numbers: Any, y: Any, norms: Any, some: Any, with_x: bool, tile: Any) -> Any:
    """The first lines of ``PowerSums``, with a NaN in rows that are not complete; how many are, and
    are used.
    """
    counted, weight, middle, radius = numbers[1] > 0.0, numbers[2], numbers[3], numbers[4]
    zero, first, second = tile[0, : len(y)], tile[1, : len(y)], tile[2, : len(y)]
    complete = 0
    for i in range(len(y)):
        silent = 0.0 * norms[i] + 0.0 * y[i]
        zero[i] = (0.0 if counted else weight) + silent
        first[i] = y[i]
        second[i] = y[i] * y[i] - middle
        complete += 1 if silent == silent and some[i] else 0
    if with_x:
        third, taken = tile[3, : len(y)], radius * middle
        for i in range(len(y)):
            third[i] = norms[i] * norms[i] / radius - taken
    return complete


def count_columns(tile: Any, norms: Any, some: Any, counts: Any) -> None:
    """Add the rows of a tile to the histogram of each column; ``counts`` has a cell more, for rows
    that are in none.
    """
    number, places = counts.shape[1] - 1, np.empty(len(norms), dtype=np.int64)
    half, last, nowhere = number / 2, number - 1.0, float(number)
    for column in range(len(counts)):
        values, found = tile[column, : len(norms)], counts[column]
        for i in range(len(norms)):
            place = values[i] * half + half
            place = 0.0 if place < 0.0 else place
            place = (last if place > last else place) + 0.0 * norms[i]
            places[i] = np.int64(place if place == place and some[i] else nowhere)
        for i in range(len(places)):
            found[places[i]] += 1


def look_pass(
    addresses: Any,
    stride: int,
    scaling: Any,
    labels: Any,
    used: Any,
    looks: Any,
    sums: Any,
    rest: Any,
    counts: Any,
    norms: Any,
) -> None:
    """Of each look: whether with x, whether it counts, its weight, middle and radius, the grids of
    ``placed_sums``, the worth of a high half, and the number of halves. The last entry of its sums
    is the number of complete rows. Norms of encoded rows are added to ``norms``, which must be 0.
    """
    columns = len(addresses)
    tile, work = aligned(columns + 4, _TILE), aligned(6, _TILE)
    for start in range(0, len(labels), _TILE):
        size = min(_TILE, len(labels) - start)
        y, some, lengths = labels[start : start + size], used[start : start + size], norms[start : start + size]
        encode_tile(addresses, stride, start, size, scaling, 0.0, tile[3:])
        for column in range(0, columns // 4 * 4, 4):
            add_four_squares(tile[column + 4 : column + 8], lengths)
        for column in range(columns // 4 * 4, columns):
            add_squares(tile[column + 4, :size], lengths)
        for i in range(size):
            lengths[i] = np.sqrt(lengths[i])
        if len(counts):
            count_columns(tile[4:], lengths, some, counts)
        for number in range(len(looks)):
            look = looks[number]
            with_x = look[0] > 0.0
            sums[number, 0, columns + 4] += own_lines(look, y, lengths, some, with_x, tile)
            entries, halves = columns + 4 if with_x else 3, int(look[12])
            sum_placed(tile[:entries], some, look[5:11], look[11], work, sums[number, :halves], rest[number, :halves])

"""The inner loops over a block in numpy; ``kernels.py`` documents each, ``kernel_loops.py``
compiles it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.rows.cells import cells_at


def encode_table(
    table: Any, low: Any, high: Any, centre: Any, per_unit: Any, scale: float, whole: bool, out: Any
) -> None:
    with np.errstate(invalid="ignore"):  # a signalling NaN (R's missing value) would warn
        np.clip(table.T, low[:, np.newaxis], high[:, np.newaxis], out=out)
        out -= centre[:, np.newaxis]
        out *= per_unit[:, np.newaxis]
        if whole:
            np.multiply(out, scale, out=out)
            np.rint(out, out=out)


def encode_column(
    cells: Any, low: float, high: float, centre: float, per_unit: float, scale: float, whole: bool, out: Any
) -> None:
    with np.errstate(invalid="ignore"):
        np.clip(cells, low, high, out=out)
        out -= centre
        out *= per_unit
        if whole:
            np.multiply(out, scale, out=out)
            np.rint(out, out=out)


def shorten(x: Any, centre: Any, per_unit: float, radius: float, shrink: Any) -> None:
    x -= centre[:, np.newaxis]
    x *= per_unit
    column_norms(x, 0, shrink)
    np.maximum(shrink, radius, out=shrink)
    np.divide(radius, shrink, out=shrink)
    x *= shrink


def place(factor: Any, norm_bound: float, scale: float, seed: Any, norms: Any) -> None:
    norms[:] = 0.0
    column_norms(factor, 0, norms)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        low_bits = (norms / norm_bound + seed) * 268435456.0
        factor *= norm_bound / np.maximum(norms, norm_bound) * scale
        factor += low_bits - np.floor(low_bits)
        np.floor(factor, out=factor)
    factor[:, ~np.isfinite(norms)] = 0.0


def weight_digits(
    weight: Any, length: Any, bound: float, shortest: float, scale: float, digit: float, digits: Any
) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        most = bound / np.maximum(length, shortest)
        whole = np.trunc(np.clip(weight, -most, most) * scale)
        whole[~(np.isfinite(whole) & np.isfinite(length))] = 0.0
    above = np.floor(whole * (1 / digit))
    digits[0] = np.floor(above * (1 / digit))
    digits[1] = above - digits[0] * digit
    digits[2] = whole - above * digit


def digit_sums(lines: Any, digits: Any, total: Any) -> None:
    sums = digits @ lines.T
    if np.isnan(sums).any():  # NaN times 0 is NaN
        numbers = ~np.isnan(lines).any(axis=0)
        sums = digits[:, numbers] @ lines[:, numbers].T
    total += sums


def cells_between(values: Any, edges: Any, cells: Any) -> None:
    cells[:] = np.searchsorted(edges, values, side="left")
    cells[np.isnan(values)] = -1


def column_norms(factor: Any, start: int, norms: Any) -> None:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = np.empty_like(norms)
        for entry in factor[:, start : start + len(norms)]:
            np.multiply(entry, entry, out=square)
            np.add(norms, square, out=norms)
        np.sqrt(norms, out=norms)


# Constants of SplitMix64 (Steele, Lea and Flood, 2014): every bit of a cell affects
# every bit of the hash.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_NOT_A_NUMBER = np.uint64(0x7FF8000000000000)


def fold_floats(state: Any, words: Any) -> None:
    for line in words:
        fold_words(state, _by_value(line))


def _by_value(words: Any) -> Any:
    """The bits of numbers, which are the same for all NaNs and for 0 and -0."""
    cells = words.view(np.float64)
    with np.errstate(invalid="ignore"):  # a signalling NaN would cause a warning
        bits = (cells + 0.0).view(np.uint64)  # -0 becomes 0
    bits[np.isnan(cells)] = _NOT_A_NUMBER
    return bits


def fold_words(state: Any, words: Any) -> None:
    state ^= words
    state *= _FIRST
    state ^= state >> np.uint64(29)
    state *= _SECOND
    state ^= state >> np.uint64(32)


_HALF = np.uint64(0xFFFFFFFF)


def product_digest(addresses: Any, floats: Any, keys: Any, used: Any) -> Any:
    state = np.zeros(len(used), dtype=np.uint64)
    for address, numbers, (first_key, second_key) in zip(addresses, floats, keys, strict=True):
        words = cells_at(address, len(used)).view(np.uint64)
        cells = _by_value(words) if numbers else words
        state += ((cells + first_key) & _HALF) * (((cells >> np.uint64(32)) + second_key) & _HALF)
    fold_words(state, np.uint64(0))
    return state[used].sum(dtype=np.uint64)


def place_weighted(rows: Any, weight: Any, last: Any, start: int, norm_bound: float, scale: float, out: Any) -> None:
    some = slice(start, start + out.shape[1])
    with np.errstate(all="ignore"):
        np.multiply(rows[:, some], weight[some], out=out[: len(rows)])
    if len(last):
        out[-1] = last[some]
    place(out, norm_bound, scale, np.zeros(out.shape[1]), np.zeros(out.shape[1]))


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
    factor, one = np.vstack([head, body]), np.ones((1, len(used)))
    norms = np.zeros(len(used))
    place(factor, norm_bound, scale, np.full(len(used), seed), norms)
    seeds = np.where(np.isfinite(norms), norms, 0.0) * one_seed
    place(one, one_bound, one_scale, seeds, np.zeros(len(used)))
    factor[:, ~used] = 0.0
    high = np.floor(factor * (1 / half))
    low = factor - high * half
    odd = np.flatnonzero(one[0] != one_scale)
    for line, values in enumerate((high, low) if len(sums) == 2 else (factor,)):
        sums[line] += values.sum(axis=1).astype(np.int64)
        rest[line] += (values[:, odd] @ (one[0, odd] - one_scale)).astype(np.int64)


def count_cells(cells: Any, used: Any, counts: Any) -> None:
    for line, total in zip(cells, counts, strict=True):
        counted = line[(line >= 0) & (line < len(total)) & used]
        total += np.bincount(counted, minlength=len(total))


def cell_sums(cell: Any, used: Any, lines: Any, half: float, sums: Any) -> None:
    number = sums.shape[2]
    place = np.where((cell >= 0) & (cell < number) & used, cell, number)
    above = np.floor(lines * (1 / half))
    halves = [above, lines - above * half] if len(sums) > 1 else [lines]
    for values, total in zip(halves, sums, strict=True):
        total += [np.bincount(place, line, number + 1)[:number].astype(np.int64) for line in values]


def even_cells(x: Any, silent: Any, number: int, cells: Any) -> None:
    half = number / 2
    for line, found in zip(x, cells, strict=True):
        place = line * half
        place += half
        np.clip(place, 0.0, number - 1.0, out=place)  # the upper bound is in the last cell
        place += silent
        found[:] = np.where(np.isnan(place), -1.0, place)

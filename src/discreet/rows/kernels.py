"""The inner loops over a block, in numpy and, bit for bit the same, compiled by numba.

A compiled loop keeps a few records in the first cache through all its steps, where numpy sends a whole block through
memory once a step. Compiling takes a moment, so engines ask for it (``compile_kernels``) only when there are many rows.
Neither version may reorder an operation: sums must not depend on which one ran, and a test compares them bit by bit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def encode_table(table: NDArray[Any], low: Floats, high: Floats, centre: Floats, per_unit: Floats, out: Floats) -> None:
    """(clip(table, low, high) - centre) * per_unit, turned so that each column is contiguous."""
    # numba knows no half or extended precision and no foreign byte order.
    kernels = _kernels if table.dtype.isnative and table.dtype.char not in "eg" else _NUMPY
    if _by_column(table):
        kernels.encode_lines(table.T, low, high, centre, per_unit, out)
    else:
        kernels.encode_table(table, low, high, centre, per_unit, out)


def encode_rows(
    table: NDArray[Any], low: Floats, high: Floats, centre: Floats, per_unit: Floats, scale: float, out: Floats
) -> None:
    """The same in whole numbers, each record's entries side by side: out[:, 1:] is what encode_table says times scale.

    Rounded to nearest; out[:, 0] is the scale, a whole number. The scale is a power of two.
    """
    kernels = _kernels if table.dtype.isnative and table.dtype.char not in "eg" else _NUMPY
    if _by_column(table):
        kernels.encode_lines_whole(table.T, low, high, centre, per_unit, scale, out)
    else:
        kernels.encode_rows(table, low, high, centre, per_unit, scale, out)


def _by_column(table: NDArray[Any]) -> bool:
    """Whether each column lies in one piece, as numbers that need no cast."""
    return table.dtype == np.float64 and table.dtype.isnative and table.strides[0] == table.itemsize


def turned(x: Floats, scale: float, out: Floats) -> None:
    """What ``encode_rows`` writes, from entries that are encoded already, one line per entry."""
    _kernels.turned(x, scale, out)


def shorten(x: Floats, centre: Floats, per_unit: float, radius: float) -> Floats:
    """(x - centre) * per_unit, each record then shortened to the radius, in place; returns by how much."""
    shrink = np.zeros(x.shape[1])
    _kernels.shorten(x, centre, per_unit, radius, shrink)
    return shrink


def place(factor: Floats, norm_bound: float, scale: float, seed: Floats) -> Floats:
    """Clip each record's vector to the bound and put it on the grid, in place; returns the norms before.

    Entry v becomes floor(v * clip * scale + u), where u in [0, 1) is made of the low bits of the norm and of ``seed``.
    The fixed rule for special rows: where the norm is not a finite number (NaN, infinities, entries so large that
    their squares overflow) the record contributes nothing.
    """
    norms = np.zeros(factor.shape[1])
    _kernels.place(factor, norm_bound, scale, seed, norms)
    return norms


def weighted_sum(
    rows: Floats, weight: Floats, length: Floats, bound: float, shortest: float, scale: float, digit: float
) -> Floats:
    """The sum of whole rows, each times its weight, which is cut to bound / length and put on a grid.

    The weight becomes trunc(weight * scale), which three digits to the base ``digit`` spell: one line of the answer for
    each, the highest, which has the sign, first. A row whose weight or length is not a finite number counts as 0.
    """
    total = np.zeros((3, rows.shape[1]))
    _kernels.weighted_sum(rows, weight, length, bound, shortest, scale, digit, total)
    return total


def scaled_norms(factor: Floats, unit: Floats, skipped: int) -> Floats:
    """Each row of the factor times its unit, in place; returns the records' norms, without the skipped first rows."""
    norms = np.zeros(factor.shape[1])
    _kernels.scaled_norms(factor, unit, skipped, norms)
    return norms


def column_norms(factor: Floats) -> Floats:
    """Each record's norm, summed entry by entry: a BLAS or pairwise sum could round differently by the block's size."""
    total = np.zeros(factor.shape[1])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = np.empty_like(total)
        for entry in factor:
            np.multiply(entry, entry, out=square)
            np.add(total, square, out=total)
        return np.asarray(np.sqrt(total, out=total))


def fold_cells(state: NDArray[np.uint64], cells: NDArray[Any]) -> None:
    """Each row's hash so far, with one more cell in it; cells are float64, or words that are taken as they are.

    An array of several lines has a cell of every row in each, which are folded in one after the other.
    """
    if cells.dtype == np.float64:
        _kernels.fold_floats(state, (cells if cells.ndim == 2 else cells[np.newaxis]).view(np.uint64))
    else:
        _kernels.fold_words(state, cells)


def scratch(role: str, shape: tuple[int, ...]) -> Floats:
    """An uninitialised array that this thread uses again for every block: fresh memory costs more than the sums.

    It holds what it holds until the thread asks for the same role again, so only a block's own steps may use it.
    """
    held: dict[str, Floats] = _of_thread.__dict__
    if role not in held or held[role].shape != shape:
        held[role] = np.empty(shape)
    return held[role]


_of_thread = threading.local()


def compile_kernels() -> None:
    """Use the compiled loops from now on, if numba is installed (``pip install discreet[fast]``)."""
    global _kernels
    if _kernels is _NUMPY:
        try:
            import numba
        except ImportError:
            return
        _kernels = _compiled(numba)


def _encode_table(table: Any, low: Any, high: Any, centre: Any, per_unit: Any, out: Any) -> None:
    with np.errstate(invalid="ignore"):  # a signalling NaN, as R's missing numbers are, would warn that it is there
        np.clip(table.T, low[:, np.newaxis], high[:, np.newaxis], out=out)
        out -= centre[:, np.newaxis]
        out *= per_unit[:, np.newaxis]


def _encode_lines(lines: Any, low: Any, high: Any, centre: Any, per_unit: Any, out: Any) -> None:
    _encode_table(lines.T, low, high, centre, per_unit, out)


def _encode_lines_whole(lines: Any, low: Any, high: Any, centre: Any, per_unit: Any, scale: float, out: Any) -> None:
    _encode_rows(lines.T, low, high, centre, per_unit, scale, out)


def _turned(x: Any, scale: float, out: Any) -> None:
    out[:, 0] = scale
    np.multiply(x.T, scale, out=out[:, 1:])
    np.rint(out[:, 1:], out=out[:, 1:])


def _encode_rows(table: Any, low: Any, high: Any, centre: Any, per_unit: Any, scale: float, out: Any) -> None:
    out[:, 0] = scale
    x = out[:, 1:]
    with np.errstate(invalid="ignore"):
        np.clip(table, low, high, out=x)
        x -= centre
        x *= per_unit
        x *= scale
        np.rint(x, out=x)


def _shorten(x: Any, centre: Any, per_unit: float, radius: float, shrink: Any) -> None:
    x -= centre[:, np.newaxis]
    x *= per_unit
    shrink[:] = column_norms(x)
    np.maximum(shrink, radius, out=shrink)
    np.divide(radius, shrink, out=shrink)
    x *= shrink


def _place(factor: Any, norm_bound: float, scale: float, seed: Any, norms: Any) -> None:
    norms[:] = column_norms(factor)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        low_bits = (norms / norm_bound + seed) * 268435456.0
        factor *= norm_bound / np.maximum(norms, norm_bound) * scale
        factor += low_bits - np.floor(low_bits)
        np.floor(factor, out=factor)
    factor[:, ~np.isfinite(norms)] = 0.0


def _weighted_sum(
    rows: Any, weight: Any, length: Any, bound: float, shortest: float, scale: float, digit: float, total: Any
) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        most = bound / np.maximum(length, shortest)
        whole = np.trunc(np.clip(weight, -most, most) * scale)
        counted = np.isfinite(whole) & np.isfinite(length)
    if not counted.all():  # no number times 0 is no number
        rows, whole = rows[counted], whole[counted]
    above = np.floor(whole * (1 / digit))
    highest = np.floor(above * (1 / digit))
    total += np.stack([highest, above - highest * digit, whole - above * digit]) @ rows


def _scaled_norms(factor: Any, unit: Any, skipped: int, norms: Any) -> None:
    factor *= unit[:, np.newaxis]
    norms[:] = column_norms(factor[skipped:])


# Odd constants of SplitMix64 (Steele, Lea and Flood, 2014): every bit of a cell moves every bit of the hash.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_NOT_A_NUMBER = np.uint64(0x7FF8000000000000)


def _fold_floats(state: Any, words: Any) -> None:
    for line in words:
        cells = line.view(np.float64)
        with np.errstate(invalid="ignore"):  # a signalling NaN would warn that it is there
            folded = (cells + 0.0).view(np.uint64)  # -0 becomes 0
        folded[np.isnan(cells)] = _NOT_A_NUMBER
        _fold_words(state, folded)


def _fold_words(state: Any, words: Any) -> None:
    state ^= words
    state *= _FIRST
    state ^= state >> np.uint64(29)
    state *= _SECOND
    state ^= state >> np.uint64(32)


_NUMPY = SimpleNamespace(
    encode_table=_encode_table,
    encode_lines=_encode_lines,
    encode_lines_whole=_encode_lines_whole,
    turned=_turned,
    encode_rows=_encode_rows,
    shorten=_shorten,
    place=_place,
    weighted_sum=_weighted_sum,
    scaled_norms=_scaled_norms,
    fold_floats=_fold_floats,
    fold_words=_fold_words,
)
_kernels = _NUMPY


def _compiled(numba: Any) -> SimpleNamespace:
    from discreet.rows import kernel_loops

    # No fastmath: contraction and reordering would change bits.
    def jit(function: Callable[..., None]) -> Any:
        try:
            return numba.njit(nogil=True, cache=True, error_model="numpy")(function)
        except RuntimeError:  # nowhere to keep the compiled code: compile again in each process
            return numba.njit(nogil=True, error_model="numpy")(function)

    return SimpleNamespace(
        encode_table=jit(kernel_loops.encode_table),
        encode_lines=jit(kernel_loops.encode_lines),
        encode_lines_whole=jit(kernel_loops.encode_lines_whole),
        turned=jit(kernel_loops.turned),
        encode_rows=jit(kernel_loops.encode_rows),
        shorten=jit(kernel_loops.shorten),
        place=jit(kernel_loops.place),
        weighted_sum=jit(kernel_loops.weighted_sum),
        scaled_norms=jit(kernel_loops.scaled_norms),
        fold_floats=jit(kernel_loops.fold_floats),
        fold_words=jit(kernel_loops.fold_words),
    )

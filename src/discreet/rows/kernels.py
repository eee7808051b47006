"""The inner loops over a block, in numpy and compiled by numba, with identical bits.

A compiled loop keeps a few records in the first-level cache through all its steps, whereas numpy
sends a whole block through memory at each step. Compiling takes a moment, so engines request it
(``compile_kernels``) only for many rows. Neither version may reorder an operation: sums must not
depend on which version ran. A test compares them bit by bit.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# This many records with a few dozen entries stay in a core's own cache from one step to the next.
TILE_ROWS = 2048


def encode_table(
    table: NDArray[Any], low: Floats, high: Floats, centre: Floats, per_unit: Floats, out: Floats, scale: float = 0.0
) -> None:
    """(clip(table, low, high) - centre) * per_unit, transposed so that each column is contiguous.

    With a ``scale``, a power of two, it is multiplied by it and rounded to
    the nearest whole number.
    """
    # numba supports neither half or extended precision nor foreign byte order.
    kernels = _kernels if table.dtype.isnative and table.dtype.char not in "eg" else _NUMPY
    if table.dtype == np.float64 and table.dtype.isnative and table.strides[0] == table.itemsize:
        encode_columns(list(table.T), low, high, centre, per_unit, out, scale)
    else:
        kernels.encode_table(table, low, high, centre, per_unit, scale or 1.0, scale != 0.0, out)


def encode_columns(
    columns: Sequence[Floats],
    low: Floats,
    high: Floats,
    centre: Floats,
    per_unit: Floats,
    out: Floats,
    scale: float = 0.0,
) -> None:
    """The same for a table stored as contiguous columns."""
    bounds = zip(low.tolist(), high.tolist(), centre.tolist(), per_unit.tolist(), strict=True)
    for cells, some, target in zip(columns, bounds, out, strict=True):
        _kernels.encode_column(cells, *some, scale or 1.0, scale != 0.0, target)


def whole_numbers(x: Floats, scale: float) -> None:
    """x * scale, rounded to the nearest whole numbers, in place."""
    np.multiply(x, scale, out=x)
    np.rint(x, out=x)


def shorten(x: Floats, centre: Floats, per_unit: float, radius: float) -> Floats:
    """(x - centre) * per_unit, each record scaled down to the radius, in
    place; returns the factors.
    """
    shrink = np.zeros(x.shape[1])
    _kernels.shorten(x, centre, per_unit, radius, shrink)
    return shrink


def place(factor: Floats, norm_bound: float, scale: float, seed: Floats) -> Floats:
    """Clip each record's vector to the bound and put it on the grid, in place;
    returns the earlier norms.

    Entry v becomes floor(v * clip * scale + u), where u in [0, 1) is made of the low bits of the
    norm and of ``seed``. If the norm is not finite (NaN, infinities, or entries whose squares
    overflow), the record contributes nothing.
    """
    norms = np.zeros(factor.shape[1])
    _kernels.place(factor, norm_bound, scale, seed, norms)
    return norms


def weighted_sum(
    lines: Floats, weight: Floats, length: Floats, bound: float, shortest: float, scale: float, digit: float
) -> Floats:
    """The sum of whole records times their weights, which are clipped to bound /
    length and put on a grid.

    The weight becomes trunc(weight * scale), written as three digits to the base ``digit``: one
    line of the answer for each digit, the highest, which has the sign, first. A record whose weight
    or length is not finite counts as 0; a record with a NaN has no length.
    """
    digits = np.empty((3, lines.shape[1]))
    _kernels.weight_digits(weight, length, bound, shortest, scale, digit, digits)
    total = np.zeros((3, len(lines)))
    _kernels.digit_sums(lines, digits, total)
    return total


def square_sums(factor: Floats) -> NDArray[np.int64] | None:
    """factor @ factor.T of whole numbers of 22 bits, in the form of ``carried``;
    None where BLAS is faster.
    """
    if _kernels is _NUMPY or len(factor) < 4:
        return None
    sums = np.zeros((2, len(factor), len(factor)), dtype=np.int64)
    _kernels.square_sums(factor, sums[0], sums[1])
    return sums


def cells_between(values: Floats, edges: Floats) -> NDArray[np.int64]:
    """The number of edges below each value; -1 for NaN."""
    cells = np.empty(len(values), dtype=np.int64)
    _kernels.cells_between(values, edges, cells)
    return cells


def column_norms(factor: Floats) -> Floats:
    """Each record's norm, added in a fixed order: BLAS or pairwise sums could
    round by the block's size.
    """
    norms = np.zeros(factor.shape[1])
    (_kernels if factor.flags.c_contiguous else _NUMPY).column_norms(factor, 0, norms)
    return norms


def norms_from(factor: Floats, start: int, norms: Floats) -> None:
    """The same for the records from ``start`` on, added to ``norms``, which must be 0."""
    _kernels.column_norms(factor, start, norms)


def fold_cells(state: NDArray[np.uint64], cells: NDArray[Any]) -> None:
    """Add one more cell to each row's hash; cells are float64, or 64-bit words
    that are used as they are.

    An array with several lines has one cell of every row in each; they are added one after another.
    """
    if cells.dtype == np.float64:
        _kernels.fold_floats(state, (cells if cells.ndim == 2 else cells[np.newaxis]).view(np.uint64))
    else:
        _kernels.fold_words(state, cells)


def scratch(role: str, shape: tuple[int, ...]) -> Floats:
    """An uninitialised array that this thread reuses for every block: allocation
    costs more than the sums.

    Its content is valid until the thread asks for the same role again, so only the steps
    of one block may use it.
    """
    held: dict[str, Floats] = _of_thread.__dict__
    size = math.prod(shape)
    if role not in held or held[role].size < size:
        held[role] = np.empty(size)
    return held[role][:size].reshape(shape)


_of_thread = threading.local()


def compile_kernels() -> None:
    """Use the compiled loops from now on, if numba is installed
    (``pip install discreet[fast]``).
    """
    global _kernels
    if _kernels is _NUMPY:
        try:
            import numba
        except ImportError:
            return
        _kernels = _compiled(numba)


def _encode_table(
    table: Any, low: Any, high: Any, centre: Any, per_unit: Any, scale: float, whole: bool, out: Any
) -> None:
    with np.errstate(invalid="ignore"):  # a signalling NaN (R's missing value) would warn
        np.clip(table.T, low[:, np.newaxis], high[:, np.newaxis], out=out)
        out -= centre[:, np.newaxis]
        out *= per_unit[:, np.newaxis]
        if whole:
            whole_numbers(out, scale)


def _encode_column(
    cells: Any, low: float, high: float, centre: float, per_unit: float, scale: float, whole: bool, out: Any
) -> None:
    with np.errstate(invalid="ignore"):
        np.clip(cells, low, high, out=out)
        out -= centre
        out *= per_unit
        if whole:
            whole_numbers(out, scale)


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


def _weight_digits(
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


def _digit_sums(lines: Any, digits: Any, total: Any) -> None:
    sums = digits @ lines.T
    if np.isnan(sums).any():  # NaN times 0 is NaN
        numbers = ~np.isnan(lines).any(axis=0)
        sums = digits[:, numbers] @ lines[:, numbers].T
    total += sums


def _cells_between(values: Any, edges: Any, cells: Any) -> None:
    cells[:] = np.searchsorted(edges, values, side="left")
    cells[np.isnan(values)] = -1


def _column_norms(factor: Any, start: int, norms: Any) -> None:
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


def _fold_floats(state: Any, words: Any) -> None:
    for line in words:
        cells = line.view(np.float64)
        with np.errstate(invalid="ignore"):  # a signalling NaN would cause a warning
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
    encode_column=_encode_column,
    shorten=_shorten,
    place=_place,
    weight_digits=_weight_digits,
    digit_sums=_digit_sums,
    column_norms=_column_norms,
    cells_between=_cells_between,
    fold_floats=_fold_floats,
    fold_words=_fold_words,
)
_kernels = _NUMPY


def _compiled(numba: Any) -> SimpleNamespace:
    from discreet.rows import kernel_loops

    def jit(name: str) -> Any:
        # Contraction and reordering would change bits, except in sums of whole numbers
        # that are exact in float64.
        loose = {"reassoc", "contract"} if name in kernel_loops.IN_ANY_ORDER else False
        options = {"nogil": True, "error_model": "numpy", "fastmath": loose}
        try:
            return numba.njit(cache=True, **options)(getattr(kernel_loops, name))
        except RuntimeError:  # no folder for the compiled code: compile again in each process
            return numba.njit(**options)(getattr(kernel_loops, name))

    return SimpleNamespace(**{name: jit(name) for name in (*vars(_NUMPY), "square_sums")})

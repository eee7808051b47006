"""The inner loops over a block, in numpy and compiled by numba, with identical bits.

A compiled loop keeps a few records in the first-level cache through all its steps, whereas numpy
sends a whole block through memory at each step. Compiling takes a moment, so engines request it
(``compile_kernels``) only for many rows. Neither version may reorder an operation: sums must not
depend on which version ran. A test compares them bit by bit.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.rows import kernel_arrays, kernel_loops
from discreet.rows.carries import HALF_BITS
from discreet.rows.cells import CellsInMemory

Floats = NDArray[np.float64]

_NO_LINE = np.empty(0)
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


def place_weighted(
    rows: Floats, weight: Floats, last: Floats | None, start: int, norm_bound: float, scale: float, out: Floats
) -> None:
    """``place`` of weighted records from ``start`` on, with a last line below them, into ``out``;
    seeds are 0.
    """
    rows = rows.view()
    rows.flags.writeable = False  # always, so that one compiled loop serves
    _kernels.place_weighted(
        rows, np.ascontiguousarray(weight), _NO_LINE if last is None else last, start, norm_bound, scale, out
    )


def placed_sums(
    head: Floats,
    body: Floats,
    grids: tuple[float, ...],
    used: NDArray[np.bool_] | None,
    half_bits: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sums of records that are placed on a grid beside a factor which is 1 in every record.

    A record is ``head`` above ``body``, neither of which is written to. A grid is the bound of a
    factor's norm, its scale and its seed, first of the records and then of the 1: ``place`` gets
    the seed of the records as it is, and that of the 1 times the record's norm. Returns the sums,
    and those of products with what the 1 became beyond its scale, which is 0 in most records; each
    with a line for high and low halves of so many bits, or one line. Numbers of 22 bits are summed
    exactly.
    """
    used = _all_rows(head.shape[1]) if used is None else used
    sums, rest = np.zeros((2, 1 if half_bits is None else 2, len(head) + len(body)), dtype=np.int64)
    _kernels.placed_sums(head, body, *grids, used, 2.0 ** (half_bits or 0), sums, rest)
    return sums, rest


def encode_cells(cells: CellsInMemory, out: Floats) -> Floats | None:
    """A block's encoded rows into ``out``, and their norms; None where there is no such loop."""
    if _kernels is _NUMPY:
        return None
    norms = np.zeros(out.shape[1])
    _kernels.encode_cells(cells.addresses, cells.stride, cells.scaling, out, norms)
    return norms


def map_cells(
    cells: CellsInMemory,
    scale: float,
    matrix: Floats,
    spans: NDArray[np.int64],
    skipped: int,
    out: Floats,
    norms: Floats,
) -> bool:
    """See fused_loops.py; False where there is no such loop."""
    if _kernels is _NUMPY:
        return False
    _kernels.map_cells(cells.addresses, cells.stride, cells.scaling, scale, matrix, spans, skipped, out, norms)
    return True


def sum_cells(
    cells: CellsInMemory, scale: float, weight: Floats, length: Floats, grid: tuple[float, ...], exact_rows: int
) -> NDArray[np.int64] | None:
    """The sums of ``weighted_sum`` as pairs, from a block's cells; None where there is no loop.

    Sums of ``exact_rows`` rows are exact in float64.
    """
    if _kernels is _NUMPY:
        return None
    sums = np.zeros((2, 3, len(cells.addresses) + 1), dtype=np.int64)
    weight, length = np.ascontiguousarray(weight), np.ascontiguousarray(length)
    _kernels.sum_cells(
        cells.addresses, cells.stride, cells.scaling, scale, weight, length, *grid, exact_rows, sums[0], sums[1]
    )
    return sums


def has_loops() -> bool:
    """Whether loops that have no version in numpy may be called."""
    return _kernels is not _NUMPY


def law_pass(
    cells: CellsInMemory,
    linear: tuple[float, Floats, NDArray[np.int64]],
    skipped: int,
    labels: Floats,
    used: NDArray[np.bool_] | None,
    rules: tuple[Any, ...],
    squares: NDArray[np.int64],
    sums: NDArray[np.int64],
    out: Floats,
) -> None:
    """See law_loops.py; only where there are loops."""
    used = _all_rows(len(labels)) if used is None else used
    _kernels.law_pass(
        cells.addresses, cells.stride, cells.scaling, *linear, skipped, labels, used, *rules, squares, sums, out
    )


def look_pass(
    cells: CellsInMemory,
    labels: Floats,
    used: NDArray[np.bool_] | None,
    looks: Floats,
    sums: NDArray[np.int64],
    rest: NDArray[np.int64],
    counts: NDArray[np.int64],
    norms: Floats,
) -> None:
    """See look_loops.py; only where there are loops."""
    used = _all_rows(len(labels)) if used is None else used
    _kernels.look_pass(cells.addresses, cells.stride, cells.scaling, labels, used, looks, sums, rest, counts, norms)


@lru_cache(maxsize=16)
def _all_rows(records: int) -> NDArray[np.bool_]:
    """A mask of rows that are all used."""
    return np.ones(records, dtype=np.bool_)


def weighted_squares(
    rows: Floats,
    weight: Floats,
    last: Floats | None,
    used: NDArray[np.bool_] | None,
    grid: tuple[float, float],
    sums: NDArray[np.int64],
) -> bool:
    """``square_sums`` of what ``place_weighted`` gives, of the records that are used; False where
    there is no such loop. A grid is the bound of a record's norm, and its scale.
    """
    if _kernels is _NUMPY:
        return False
    rows = rows.view()
    rows.flags.writeable = False  # always, so that one compiled loop serves
    used = _all_rows(len(weight)) if used is None else used
    below = _NO_LINE if last is None else last
    _kernels.weighted_squares(rows, np.ascontiguousarray(weight), below, used, *grid, *sums)
    return True


def square_sums(factor: Floats, sums: NDArray[np.int64]) -> bool:
    """Add factor @ factor.T of 22-bit whole numbers, as ``carried``; False where BLAS is faster."""
    if _kernels is _NUMPY or len(factor) < 4:
        return False
    _kernels.square_sums(factor, sums[0], sums[1])
    return True


def count_cells(cells: NDArray[np.int64], number: int, used: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """How many of the records that are used are in each cell, for each line of cells; one out of
    range is in none.
    """
    counts = np.zeros((len(cells), number), dtype=np.int64)
    _kernels.count_cells(cells, _all_rows(cells.shape[1]) if used is None else used, counts)
    return counts


def cell_sums(
    cell: NDArray[np.int64], lines: Floats, number: int, halves: int, used: NDArray[np.bool_] | None
) -> NDArray[np.int64]:
    """For each half of whole numbers >= 0 (the high one first, of 22 bits) and each line the sums
    over the records in each cell; a record that is not used or out of range is in none.
    """
    sums = np.zeros((halves, len(lines), number), dtype=np.int64)
    _kernels.cell_sums(cell, _all_rows(len(cell)) if used is None else used, lines, 2.0**HALF_BITS, sums)
    return sums


def even_cells(x: Floats, silent: Floats, number: int) -> NDArray[np.int64]:
    """The cell of each entry among so many equal ones of [-1, 1]; -1 in records whose ``silent`` is
    NaN and not 0.
    """
    cells = np.empty(x.shape, dtype=np.int64)
    _kernels.even_cells(x, silent, number, cells)
    return cells


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


def product_digest(
    addresses: NDArray[np.uint64], floats: NDArray[np.bool_], keys: NDArray[np.uint64], used: NDArray[np.bool_]
) -> int:
    """The sum, modulo 2^64, of the mixed bits of each row that is used.

    A row's bits are a sum over its cells, modulo 2^64, of (low half + first key) * (high half +
    second key); halves have 32 bits. Columns of 64-bit words begin at the addresses; ``floats``
    says which are float64, as in ``fold_cells``.
    """
    return int(_kernels.product_digest(addresses, floats, keys, used))


def scratch(role: str, shape: tuple[int, ...]) -> Floats:
    """An uninitialised array that this thread reuses for every block: allocation
    costs more than the sums.

    Its content is valid until the thread asks for the same role again, so only the steps
    of one block may use it.
    """
    held: dict[str, Floats] = _of_thread.__dict__
    size = math.prod(shape)
    if role not in held or held[role].size < size:
        held[role] = kernel_loops.aligned(1, size)[0]
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


_NAMES = (
    "encode_table",
    "encode_column",
    "shorten",
    "place",
    "place_weighted",
    "placed_sums",
    "weight_digits",
    "digit_sums",
    "column_norms",
    "cells_between",
    "count_cells",
    "cell_sums",
    "even_cells",
    "fold_floats",
    "fold_words",
)
_NUMPY = SimpleNamespace(**{name: getattr(kernel_arrays, name) for name in (*_NAMES, "product_digest")})
_kernels = _NUMPY


def _drop_stale() -> None:
    """Delete stored machine code of loops, unless it was compiled from today's sources.

    Numba compares a loop's own file alone, so a change in another one that it calls would leave
    the old code in use.
    """
    folder = Path(kernel_loops.__file__).parent
    sources = sorted(folder.glob("*_loops.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    stamp = folder / "__pycache__" / "loops.sha256"
    # A folder that nobody may write to is as it was installed.
    with contextlib.suppress(OSError):
        if not stamp.is_file() or stamp.read_text(encoding="ascii") != digest:
            for stored in stamp.parent.glob("*_loops.*.nb[ci]"):
                stored.unlink(missing_ok=True)
            stamp.write_text(digest, encoding="ascii")


@lru_cache(maxsize=1)
def _register_callees() -> None:
    """Tell numba about functions that loops call."""
    import numba
    import numba.extending

    from discreet.rows import exp_loops, fused_loops, law_loops, look_loops, poisson_loops, turn_loops

    fused_loops.pointers(numba)
    turn_loops.vector_code(numba)
    modules: tuple[Any, ...] = (kernel_loops, turn_loops, fused_loops, exp_loops, poisson_loops, law_loops, look_loops)
    for module in modules:
        for name, freedom in module.CALLED.items():
            numba.extending.register_jitable(error_model="numpy", fastmath=freedom)(getattr(module, name))


def jitted(numba: Any, function: Any, freedom: Any = False) -> Any:
    """The function, compiled by numba; in each process, where machine code cannot be stored."""
    options = {"nogil": True, "error_model": "numpy", "fastmath": freedom}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return numba.njit(**options)(function)


def _compiled(numba: Any) -> SimpleNamespace:
    from discreet.rows import fused_loops, law_loops, look_loops

    def jit(module: Any, name: str) -> Any:
        return jitted(numba, getattr(module, name), kernel_loops.CALLED.get(name, False))

    _drop_stale()
    _register_callees()
    own = {name: jit(kernel_loops, name) for name in (*_NAMES, "square_sums", "weighted_squares")}
    fused = {name: jit(module, name) for module in (fused_loops, law_loops, look_loops) for name in module.NAMES}
    return SimpleNamespace(**own, **fused)

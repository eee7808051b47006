"""The loops that numba compiles, run as they are written: the same bits as their twins in numpy,
tile by tile.
"""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.rows import kernel_loops, kernels, wide_kernels
from discreet.rows.wide_kernels import LIMIT, _careful_rows, _weighted_cells_loop, weighted_cells, weighted_cells_numpy

NUMPY = kernels._NUMPY
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e308, -1e200, 5e-324, 1e-160, 2.0**52]
# One tile and a little more, for every length of a tile.
RECORDS = (0, 1, 33, 65, 130, 515)


def values(seed: int, shape: tuple[int, ...], special: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    odd = rng.random(shape) < special
    x[odd] = rng.choice(SPECIAL, odd.sum())
    return x


def same(first: np.ndarray, second: np.ndarray) -> None:
    first, second = first + 0.0, second + 0.0  # -0 is 0
    assert np.array_equal(first, second, equal_nan=True)


def bounds(width: int) -> tuple[np.ndarray, ...]:
    low, high = np.linspace(-2, -1, width), np.linspace(1, 3, width)
    return low, high, (low + high) / 2, 2 / (high - low)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("with_last", [False, True])
def test_loop_that_places_weighted_records(records, with_last):
    rows, weight = values(records, (3, records + 5)), values(records + 1, (records + 5,))
    last = values(7, (records + 5,)) if with_last else np.empty(0)
    found, expected = np.empty((2, 3 + with_last, records))
    kernel_loops.place_weighted(rows, weight, last, 5, 2.0, 2.0**20, found)
    NUMPY.place_weighted(rows, weight, last, 5, 2.0, 2.0**20, expected)
    same(found, expected)
    assert np.isfinite(found).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("with_last", [False, True])
@pytest.mark.parametrize("every", [1, 3])
def test_loop_that_squares_weighted_records(records, with_last, every):
    """Those that are used, without an array of placed records."""
    rows, weight = values(records, (4, records)), values(records + 1, (records,))
    last = values(7, (records,)) if with_last else np.empty(0)
    used, placed = np.arange(records) % every == 0, np.empty((4 + with_last, records))
    high, low = np.zeros((2, 4 + with_last, 4 + with_last), dtype=np.int64)
    kernel_loops.weighted_squares(rows, weight, last, used, 2.0, 2.0**20, high, low)
    NUMPY.place_weighted(rows, weight, last, 0, 2.0, 2.0**20, placed)
    whole = placed[:, used].astype(np.int64)
    assert np.array_equal(high * 2**26 + low, whole @ whole.T)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize(("lines", "half"), [(1, 1.0), (2, 2.0**22)])
@pytest.mark.parametrize("one_bound", [1.0, 3.0])
def test_loop_that_sums_placed_records(records, lines, half, one_bound):
    head, body = values(records, (2, records), 0.02), values(records + 1, (3, records), 0.02)
    used = np.arange(records) % 7 != 3
    # So coarse a grid of the 1 that its dither often makes it one unit more.
    grids = (2.0, 2.0**20, 0.3, one_bound, 2.0**51, 0.7)
    for first, second in ((head, body), (head, body[:0])):
        found, expected = np.zeros((2, 2, lines, len(first) + len(second)), dtype=np.int64)
        kernel_loops.placed_sums(first, second, *grids, used, half, *found)
        NUMPY.placed_sums(first, second, *grids, used, half, *expected)
        assert found.tolist() == expected.tolist()
        assert found.any() == (records > 0)
        if records > 100:
            assert found[1].any()


def test_loop_that_counts_cells():
    cells = np.array([[0, 2, 2, -1, 3, 1, 2], [1, 1, 1, 1, 1, 1, 0]], dtype=np.int64)
    used = np.array([True, True, False, True, True, True, True])
    for kernel in (kernel_loops, NUMPY):
        counts = np.ones((2, 3), dtype=np.int64)
        kernel.count_cells(cells, used, counts)
        assert counts.tolist() == [[2, 2, 3], [2, 6, 1]]


def test_loop_over_even_cells():
    x, silent = np.array([[-1.0 - 1e-16, -0.5, -0.4, 1.0, np.nan, 0.3]]), np.array([0.0, 0.0, 0.0, 0.0, 0.0, np.nan])
    for kernel in (kernel_loops, NUMPY):
        cells = np.empty((1, 6), dtype=np.int64)
        kernel.even_cells(x, silent, 4, cells)
        assert cells.tolist() == [[0, 1, 1, 3, -1, -1]]


@pytest.mark.parametrize("lines", [1, 3])
def test_aligned_lines_begin_where_cache_lines_do(lines):
    assert {kernel_loops.aligned(lines, 16)[line].ctypes.data % 64 for line in range(lines) for _ in range(20)} == {0}
    assert kernel_loops.aligned(lines, 3).shape == (lines, 3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize(("scale", "whole"), [(1.0, False), (2.0**23, True)])
def test_encoding_loops(records, scale, whole):
    width = 3
    table = values(records, (records, width))
    table[: min(records, 2)] = [-2.0, 2.0, 1.0]  # some at the bounds, some between
    for one in (table, table.astype(np.float32)):
        found, expected = np.empty((width, records)), np.empty((width, records))
        with np.errstate(all="ignore"):
            kernel_loops.encode_table(one, *bounds(width), scale, whole, found)
            NUMPY.encode_table(one, *bounds(width), scale, whole, expected)
        same(found, expected)
    for cells, *some in zip(table.T, *bounds(width), strict=True):
        found, expected = np.empty(records), np.empty(records)
        kernel_loops.encode_column(cells, *some, scale, whole, found)
        NUMPY.encode_column(cells, *some, scale, whole, expected)
        same(found, expected)


@pytest.mark.parametrize("records", RECORDS)
def test_loops_over_norms(records):
    width = 3
    with np.errstate(all="ignore"):
        x, y = values(records, (width, records)), values(records, (width, records))
        shrink, expected = np.zeros(records), np.zeros(records)
        kernel_loops.shorten(x, np.linspace(-0.3, 0.4, width), 0.5, 1.5, shrink)
        NUMPY.shorten(y, np.linspace(-0.3, 0.4, width), 0.5, 1.5, expected)
        same(x, y)
        same(shrink, expected)
        x, y = values(records, (width, records)), values(records, (width, records))
        x[:, :1] = y[:, :1] = [[1.5], [0.0], [0.0]]  # just at the bound
        norms, expected = np.zeros(records), np.zeros(records)
        seed = np.random.default_rng(1).uniform(0, 9, records)
        kernel_loops.place(x, 1.5, 2.0**20, seed, norms)
        NUMPY.place(y, 1.5, 2.0**20, seed, expected)
        same(x, y)
        same(norms, expected)
        for start in (0, 1, 30):
            x = values(records, (width, records))
            norms, expected = np.zeros(max(records - start, 0)), np.zeros(max(records - start, 0))
            kernel_loops.column_norms(x, start, norms)
            NUMPY.column_norms(x, start, expected)
            same(norms, expected)


def test_the_loops_over_weighted_rows():
    rng = np.random.default_rng(4)
    lines = np.rint(rng.uniform(-1, 1, (2, 60)) * 2.0**23)
    weight, length = values(4, (2, 60))
    length = np.abs(length)
    length[:4], weight[:4] = [1.0, 1.0, 2.0**-12, 0.0], [3.0, -3.0, 1e9, -1e9]
    lines[:, ~np.isfinite(length)] = np.nan
    scale = 2.0 ** math.floor(math.log2(2.0**47 * 2.0**-12 / 3.0))
    found, expected = np.zeros((3, 60)), np.zeros((3, 60))
    with np.errstate(all="ignore"):
        kernel_loops.weight_digits(weight, length, 3.0, 2.0**-12, scale, 2.0**16, found)
        NUMPY.weight_digits(weight, length, 3.0, 2.0**-12, scale, 2.0**16, expected)
    same(found, expected)
    assert found.any(axis=1).all()
    sums, expected_sums = np.zeros((3, 2)), np.zeros((3, 2))
    kernel_loops.digit_sums(lines, found, sums)
    NUMPY.digit_sums(lines, found, expected_sums)
    same(sums, expected_sums)
    assert sums.any(axis=1).all()


@pytest.mark.parametrize("size", [4, 5, 7, 8, 9])
@pytest.mark.parametrize("records", [0, 1, 511, 513])
def test_the_loop_over_squares(size, records):
    """High and low parts of exact sums, whatever is left over by pieces of 4 x 4 entries and 512
    records.
    """
    rng = np.random.default_rng(size)
    factor = np.rint(rng.uniform(-1, 1, (size, records)) * 2.0**21)
    high, low = (np.zeros((size, size), dtype=np.int64) for _ in range(2))
    kernel_loops.square_sums(factor, high, low)
    whole = factor.astype(np.int64)
    assert np.array_equal(high * 2**26 + low, whole @ whole.T)


def test_the_loop_over_cells():
    rng = np.random.default_rng(0)
    given, edges = np.concatenate([values(0, (1100,)), [0.5, 1.0, -1.0]]), np.array([-1.0, 0.5, 1.0])
    found, expected = np.zeros(len(given), dtype=np.int64), np.zeros(len(given), dtype=np.int64)
    rng.shuffle(given)
    kernel_loops.cells_between(given, edges, found)
    NUMPY.cells_between(given, edges, expected)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("records", RECORDS)
def test_hashing_loops(records):
    x = values(records, (3, records), special=0.4)
    found, expected = np.full(records, 7, dtype=np.uint64), np.full(records, 7, dtype=np.uint64)
    with np.errstate(all="ignore"):
        kernel_loops.fold_floats(found, x.view(np.uint64))
        NUMPY.fold_floats(expected, x.view(np.uint64))
        assert found.tolist() == expected.tolist()
        kernel_loops.fold_words(found, np.arange(records, dtype=np.uint64))
        NUMPY.fold_words(expected, np.arange(records, dtype=np.uint64))
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 32, 37])
@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("odd", [True, False])
def test_the_loop_over_a_wide_table(rows, centred, odd, monkeypatch):
    """Columns in pieces of four, rows in sixteens, and what is no number in the one or the other."""
    monkeypatch.setattr(wide_kernels, "_COLUMNS", 4)
    rng = np.random.default_rng(rows)
    table = rng.normal(size=(rows, 9)) * 150
    table[0, :4] = [90.0, -90.0, 1e9, -1e9]
    if odd:
        table[rows // 2, [0, 5, 8]] = [np.nan, np.inf, -np.inf]
    weights = np.rint(rng.uniform(-LIMIT, LIMIT, rows))
    centre = np.zeros(9) if centred else np.where(np.arange(9) == 7, 3.5, 0.0)
    per_unit = np.full(9, LIMIT / 90)
    found, expected = np.full(9, 5.0), np.full(9, 5.0)
    _weighted_cells_loop(table, weights, centre, per_unit, LIMIT, found)
    weighted_cells_numpy(table, weights, centre, per_unit, LIMIT, expected)
    assert found.tolist() == expected.tolist()
    careful = np.full(9, 5.0)
    _careful_rows(table, weights, centre, per_unit, LIMIT, careful)
    assert careful.tolist() == expected.tolist()


def test_a_large_table_of_simple_numbers_is_worth_compiling(monkeypatch):
    used = []
    real = wide_kernels.weighted_cells_numpy
    monkeypatch.setattr(wide_kernels, "_compiled", lambda: lambda *arguments: used.append("compiled"))
    monkeypatch.setattr(
        wide_kernels, "weighted_cells_numpy", lambda *arguments: (used.append("numpy"), real(*arguments))
    )
    ones, table = np.ones(2), np.ones((2, 2))
    for cells, kind, expected in (
        (20_000_000, "f8", "compiled"),
        (19_999_999, "f8", "numpy"),
        (20_000_000, "f4", "compiled"),
        (20_000_000, "i8", "compiled"),
        (20_000_000, "u1", "compiled"),
        (20_000_000, ">f8", "numpy"),
        (20_000_000, "f2", "numpy"),
        (20_000_000, "g", "numpy"),
        (20_000_000, "?", "numpy"),
    ):
        weighted_cells(table.astype(kind), ones, np.zeros(2), ones, cells=cells)
        assert used.pop() == expected
    assert weighted_cells(table, ones, np.zeros(2), ones, cells=0).tolist() == [2.0, 2.0]


def test_columns_in_one_piece_are_encoded_column_by_column(monkeypatch):
    used = []

    def recording(which):
        names = ("encode_table", "encode_column")
        return SimpleNamespace(**{name: partial(lambda *facts: used.append(facts[:2]), which, name) for name in names})

    monkeypatch.setattr(kernels, "_kernels", recording("chosen"))
    monkeypatch.setattr(kernels, "_NUMPY", recording("numpy"))
    square, ones = np.ones((3, 3)), np.ones(3)
    for table, name in (
        (square, [("chosen", "encode_table")]),
        (np.asfortranarray(square), [("chosen", "encode_column")] * 3),
        (np.asfortranarray(square.astype("f4")), [("chosen", "encode_table")]),
        *((square.astype(kind), [("numpy", "encode_table")]) for kind in (">f8", "f2", "g")),
    ):
        kernels.encode_table(table, ones, ones, ones, ones, np.empty((3, 3)))
        assert used == name
        used.clear()

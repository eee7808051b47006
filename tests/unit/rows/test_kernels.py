"""The compiled loops and the numpy ones give the same bits, whatever the values, the order and the
type.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.rows import digest_of, kernels

numba = pytest.importorskip("numba")
COMPILED = kernels._compiled(numba)
NUMPY = kernels._NUMPY

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, np.nan, np.inf, -np.inf, 1e308, -1e200, 5e-324, -1e-310, 1e-160, 2.0**52]
seeds = st.integers(0, 2**32 - 1)
widths = st.integers(1, 7)
records = st.sampled_from([0, 1, 2, 31, 32, 33, 127, 128, 129, 300, 515])


def values(seed: int, shape: tuple[int, int]) -> np.ndarray:
    """Ordinary numbers with a few special ones among them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    special = rng.random(shape) < rng.choice([0.0, 0.05, 0.5])
    x[special] = rng.choice(SPECIAL, special.sum())
    return x


def same_bits(first: np.ndarray, second: np.ndarray) -> bool:
    """Equal bit by bit, except that any NaN equals any other."""
    numbers = ~np.isnan(first)
    return np.array_equal(numbers, ~np.isnan(second)) and np.array_equal(
        first[numbers].view(np.uint64), second[numbers].view(np.uint64)
    )


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records, st.floats(1e-3, 1e3))
def test_both_kernels_place_rows_on_the_same_grid_points(seed, width, n, norm_bound):
    results = []
    for kernel in (NUMPY, COMPILED):
        factor, norms = values(seed, (width, n)), np.zeros(n)
        kernel.place(factor, norm_bound, 2.0**20, np.random.default_rng(seed).uniform(0, 9, n), norms)
        results.append((factor + 0.0, norms))
    (placed, norms), (compiled_placed, compiled_norms) = results
    assert same_bits(placed, compiled_placed)
    assert same_bits(norms, compiled_norms)
    assert np.isfinite(placed).all()


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records, st.floats(1e-3, 1e3), st.booleans())
def test_both_kernels_place_weighted_rows_and_sum_them_alike(seed, width, n, bound, halves):
    rows, weight, last = values(seed, (width, n)), values(seed + 1, (1, n))[0], values(seed + 2, (1, n))[0]
    rows.flags.writeable = False
    used = np.random.default_rng(seed).random(n) < 0.9
    results = []
    for kernel in (NUMPY, COMPILED):
        tile = np.empty((width + 1, n))
        with np.errstate(all="ignore"):
            kernel.place_weighted(rows, weight, last, 0, bound, 2.0**20, tile)
            sums = np.zeros((2, 1 + halves, width + 1), dtype=np.int64)
            half = 2.0**22 if halves else 1.0
            kernel.placed_sums(last[np.newaxis], rows, bound, 2.0**10, 0.2, 1.0, 2.0**43, 0.7, used, half, *sums)
        counts = np.zeros((2, 5), dtype=np.int64)
        kernel.count_cells((np.arange(2 * n) % 9 - 2).reshape(2, n), used, counts)
        results.append((tile + 0.0, sums.tolist(), counts.tolist()))
    squares = np.zeros((2, width + 1, width + 1), dtype=np.int64)
    if width >= 3:
        COMPILED.weighted_squares(rows, weight, last, used, bound, 2.0**10, *squares)
        with np.errstate(all="ignore"):
            NUMPY.place_weighted(rows, weight, last, 0, bound, 2.0**10, tile)
        whole = tile[:, used].astype(np.int64)
        assert np.array_equal(squares[0] * 2**26 + squares[1], whole @ whole.T)
    assert same_bits(results[0][0], results[1][0])
    assert results[0][1:] == results[1][1:]


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records, st.floats(0.1, 10), st.floats(0.1, 10))
def test_both_kernels_shorten_rows_alike(seed, width, n, per_unit, radius):
    results = []
    for kernel in (NUMPY, COMPILED):
        x, shrink = values(seed, (width, n)), np.zeros(n)
        with np.errstate(all="ignore"):
            kernel.shorten(x, np.linspace(-0.3, 0.4, width), per_unit, radius, shrink)
        results.append((x, shrink))
    assert same_bits(results[0][0], results[1][0])
    assert same_bits(results[0][1], results[1][1])


# Each pair is compiled once (and kept by numba), which takes most of this test's time.
KINDS = [
    ("f8", "C"),
    ("f8", "F"),
    ("f8", "strided"),
    ("f8", "read only"),
    ("f4", "C"),
    ("i8", "F"),
    ("u8", "C"),
    ("?", "C"),
]


@settings(max_examples=80, deadline=None)
@given(seeds, widths, records, st.sampled_from(KINDS))
def test_both_kernels_encode_every_type_and_layout_alike(seed, width, n, kind):
    dtype, layout = kind
    with np.errstate(all="ignore"):
        table = values(seed, (n, width)).astype(dtype)
    if layout == "strided":
        table = np.repeat(table, 2, axis=0)[::2]
    else:
        table = np.array(table, order="F" if layout == "F" else "C")
    table.flags.writeable = layout != "read only"
    low, high = np.linspace(-2, -1, width), np.linspace(1, 3, width)
    results, whole = [], []
    for kernel in (NUMPY, COMPILED):
        for scale, found in ((0.0, results), (2.0**23, whole)):
            out = np.empty((width, n))
            kernel.encode_table(table, low, high, (low + high) / 2, 2 / (high - low), scale or 1.0, scale > 0, out)
            found.append(out + 0.0)
    assert same_bits(*results)
    assert same_bits(*whole)
    assert same_bits(whole[0], np.rint(results[0] * 2.0**23) + 0.0)


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records, st.integers(0, 40))
def test_both_kernels_measure_alike(seed, width, n, start):
    factor, start = values(seed, (width, n)), min(start, n)
    results = []
    for kernel in (NUMPY, COMPILED):
        norms = np.zeros(n - start)
        kernel.column_norms(factor, start, norms)
        results.append(norms)
    assert same_bits(*results)
    with np.errstate(all="ignore"):
        assert same_bits(results[0], kernels.column_norms(factor)[start:])


@settings(max_examples=60, deadline=None)
@given(seeds, records, st.integers(1, 40))
def test_both_kernels_find_the_same_cells(seed, n, edges):
    rng = np.random.default_rng(seed)
    numbers, bounds = values(seed, (1, n))[0], np.unique(np.round(rng.standard_normal(edges), 1))
    numbers[: n // 3] = np.resize(bounds, n // 3)  # on the edges themselves
    cells = [np.empty(n, dtype=np.int64) for _ in range(2)]
    for kernel, found in zip((NUMPY, COMPILED), cells, strict=True):
        kernel.cells_between(numbers, bounds, found)
    assert np.array_equal(*cells)
    assert cells[0].tolist() == [-1 if np.isnan(one) else int((bounds < one).sum()) for one in numbers]


@settings(max_examples=40, deadline=None)
@given(seeds, st.integers(4, 23), st.sampled_from([0, 1, 511, 512, 513, 1100]))
def test_squares_are_summed_exactly(seed, entries, n):
    factor = np.floor(np.random.default_rng(seed).uniform(-1, 1, (entries, n)) * 2.0**22)
    high, low = np.zeros((2, entries, entries), dtype=np.int64)
    COMPILED.square_sums(factor, high, low)
    whole = factor.astype(np.int64).astype(object)
    assert np.array_equal(high.astype(object) * 2**26 + low, whole @ whole.T)
    assert low.min(initial=0) >= 0


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records, st.floats(1e-3, 1e3))
def test_both_kernels_sum_weighted_rows_alike_and_exactly(seed, width, n, bound):
    rng = np.random.default_rng(seed)
    rows = np.rint(rng.uniform(-1, 1, (n, width)) * 2.0**23)
    weight, length = values(seed, (2, n))
    length = np.abs(length)
    rows[~np.isfinite(length), width // 2] = np.nan  # whose length is no number is no number itself
    shortest = 2.0**-12
    scale = 2.0 ** np.floor(np.log2(2.0**47 * shortest / bound))
    totals = []
    for kernel in (NUMPY, COMPILED):
        digits, total = np.empty((3, n)), np.zeros((3, width))
        with np.errstate(all="ignore"):
            kernel.weight_digits(weight, length, bound, shortest, scale, 2.0**16, digits)
            kernel.digit_sums(np.ascontiguousarray(rows.T), digits, total)
        totals.append(total + 0.0)
    assert same_bits(*totals)
    exact = [0] * width
    for row, one, norm in zip(rows, weight, length, strict=True):
        if np.isfinite(norm) and not np.isnan(one):
            most = bound / max(norm, shortest)
            whole = int(np.trunc(min(max(one, -most), most) * scale))
            exact = [total + int(entry) * whole for total, entry in zip(exact, row, strict=True)]
    high, middle, low = ([int(entry) for entry in line] for line in totals[0])
    assert [(a << 32) + (b << 16) + c for a, b, c in zip(high, middle, low, strict=True)] == exact


@pytest.mark.parametrize("dtype", ["f2", "g", ">f8", ">i4"])
def test_types_that_numba_does_not_know_are_encoded_too(dtype, monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", COMPILED)
    table = np.array([[0.5, -3.0], [0.25, 2.0]]).astype(dtype)
    out = np.empty((2, 2))
    kernels.encode_table(table, -np.ones(2), np.ones(2), np.zeros(2), np.ones(2), out)
    assert out.tolist() == np.clip(table.astype(float), -1, 1).T.tolist()


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records, st.sampled_from([0.0, 2.0**23]))
def test_columns_are_encoded_as_tables_are(seed, width, n, scale):
    x = values(seed, (width, n))
    low, high = np.linspace(-2, -1, width), np.linspace(1, 3, width)
    bounds = low, high, (low + high) / 2, 2 / (high - low)
    expected = np.empty((width, n))
    NUMPY.encode_table(x.T.copy(), *bounds, scale or 1.0, scale > 0, expected)
    for kernel in (NUMPY, COMPILED):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernels, "_kernels", kernel)
            by_column, as_table = np.empty((2, width, n))
            kernels.encode_columns(list(x), *bounds, by_column, scale)
            kernels.encode_table(x.T, *bounds, as_table, scale)
        assert same_bits(by_column + 0.0, expected + 0.0)
        assert same_bits(as_table + 0.0, expected + 0.0)


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records)
def test_both_kernels_hash_rows_alike_and_by_value(seed, width, n):
    x = values(seed, (width, n))
    other = np.where(np.isnan(x), -np.abs(np.nan), x)
    other[other == 0] = -0.0
    hashes = []
    for kernel, columns in ((NUMPY, x), (COMPILED, x), (NUMPY, other), (COMPILED, other)):
        state = np.full(n, 7, dtype=np.uint64)
        kernel.fold_floats(state, columns.view(np.uint64))
        kernel.fold_words(state, np.arange(n, dtype=np.uint64))
        hashes.append(state)
    assert all(np.array_equal(hashes[0], state) for state in hashes[1:])
    assert len(np.unique(hashes[0])) == n  # the words differ, so the rows do
    words, used = np.arange(n, dtype=np.uint64), np.arange(n) % 5 > 0
    digests = set()
    for kernel in (NUMPY, COMPILED):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernels, "_kernels", kernel)
            digests |= {digest_of([*columns, words], n, used) for columns in (x, other)}
    assert len(digests) == 1


@settings(max_examples=60, deadline=None)
@given(seeds, widths, records, st.integers(1, 9))
def test_both_kernels_find_the_same_even_cells(seed, width, n, number):
    x, silent = np.clip(values(seed, (width, n)), -1 - 1e-15, 1), np.where(np.arange(n) % 4 == 3, np.nan, 0.0)
    cells = [np.empty((width, n), dtype=np.int64) for _ in range(2)]
    for kernel, found in zip((NUMPY, COMPILED), cells, strict=True):
        kernel.even_cells(x, silent, number, found)
    assert np.array_equal(*cells)
    lost = np.isnan(x + silent)
    assert np.array_equal(lost, cells[0] == -1)
    assert cells[0].max(initial=-1) < number
    assert (cells[0] >= 0).sum() == (~lost).sum()


def test_compiled_loops_are_used_once_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(kernels, "_kernels", kernels._NUMPY)
    kernels.compile_kernels()
    compiled = kernels._kernels
    assert compiled is not kernels._NUMPY
    kernels.compile_kernels()
    assert kernels._kernels is compiled


def test_machine_code_of_other_sources_is_deleted(tmp_path, monkeypatch):
    """Numba kept a compiled loop although a function that it calls, in another file, had changed:
    fits then differed from those in plain NumPy.
    """
    stored, caller, called = tmp_path / "__pycache__", tmp_path / "law_loops.py", tmp_path / "poisson_loops.py"
    stored.mkdir()
    for source in (caller, called):
        source.write_text("# one\n", encoding="ascii")
    monkeypatch.setattr(kernels, "kernel_loops", SimpleNamespace(__file__=str(caller)))
    code = stored / "law_loops.gradient-7.py311.1.nbc"

    def kept() -> bool:
        code.write_bytes(b"compiled")
        kernels._drop_stale()
        return code.exists()

    assert not kept()  # nobody knows from what it was compiled
    assert kept()
    called.write_text("# two\n", encoding="ascii")
    assert not kept()
    assert kept()

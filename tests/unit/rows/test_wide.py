"""Sums over wide tables are exact: the same bits by numpy and numba, dense and sparse, in any
blocks and any order.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from discreet.rows import (
    Labels,
    LinearMap,
    PowerSums,
    ResidualRanking,
    SparseRows,
    WideEncoding,
    WideLook,
    several_parts,
)
from discreet.rows.gradient import GradientSum, SizeHistogram, WeightedMoment
from discreet.rows.grid import exact_sum
from discreet.rows.query import reach
from discreet.rows.ranking import candidates, ranked_parts, ranking_reach, ranking_unit, whole_weights
from discreet.rows.support import on_columns
from discreet.rows.wide import wide_block_rows
from discreet.rows.wide_kernels import LIMIT, _compiled, weighted_cells_numpy

odd_cells = st.floats(allow_nan=True, allow_infinity=True)


def encoding(width, low=-1.0, high=1.0):
    return WideEncoding(np.full(width, low), np.full(width, high), -1.0, 1.0)


def ranking(width, weight_bound=1.0, cell_bound=1.0, **more):
    """Weights are the labels themselves."""
    return ResidualRanking(
        width,
        LinearMap(np.zeros((1, 1))),
        np.zeros(0, dtype=np.int64),
        Labels(0.0, 1.0),
        lambda y, eta: eta - y,
        weight_bound,
        cell_bound,
        **more,
    )


def sums(query, code, table, y, used=None):
    return exact_sum(ranked_parts(query, code.encode(table, y), used))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
def test_numba_and_numpy_give_the_same_bits(kind):
    loop = _compiled()
    if loop is None:
        pytest.skip("numba is not installed")
    rng = np.random.default_rng(0)
    table = (rng.normal(size=(67, 1100)) * 100).astype(kind)
    if kind is not np.int32:
        table[3, :4] = [np.nan, np.inf, -np.inf, np.finfo(kind).max]
    weights = np.rint(rng.uniform(-LIMIT, LIMIT, 67))
    centre, per_unit = rng.normal(size=1100), np.full(1100, LIMIT / 90)
    found = np.zeros((2, 1100))
    loop(table, weights, centre, per_unit, LIMIT, found[0])
    weighted_cells_numpy(table, weights, centre, per_unit, LIMIT, found[1])
    assert np.array_equal(found[0], found[1])
    extreme = np.where(np.arange(1100) % 2, 1e9, -1e9).astype(kind) * np.ones((67, 1), dtype=kind)
    worst = np.zeros(1100)
    loop(extreme, np.full(67, LIMIT), centre, per_unit, LIMIT, worst)
    assert np.array_equal(np.abs(worst), np.full(1100, 67 * LIMIT**2)), "sums at the limit must be exact as well"
    # Exact: no order of rows changes a bit.
    order = rng.permutation(67)
    weighted_cells_numpy(table[order], weights[order], centre, per_unit, LIMIT, again := np.zeros(1100))
    assert np.array_equal(found[1], again)


@given(arrays(np.float64, (7, 3), elements=odd_cells), arrays(np.float64, 7, elements=odd_cells), st.integers(0, 7))
@settings(max_examples=100, deadline=None)
def test_any_cut_into_blocks_gives_the_same_sums(table, y, cut):
    query, code = ranking(3), encoding(3)
    whole = sums(query, code, table, y)
    parts = sums(query, code, table[:cut], y[:cut]) + sums(query, code, table[cut:], y[cut:])
    assert np.array_equal(whole, parts)


@given(
    arrays(np.float64, (1, 4), elements=odd_cells),
    odd_cells,
    st.floats(1e-6, 1.0),
    st.floats(1e-3, 1e3),
)
@settings(max_examples=200, deadline=None)
def test_one_row_moves_no_sum_farther_than_the_reach(table, label, cell_bound, weight_bound):
    query = ranking(4, weight_bound, cell_bound)
    moved = sums(query, encoding(4), table, np.array([label]))
    assert max(abs(int(value)) for value in moved) <= ranking_reach("add_or_remove_one", 1)
    assert ranking_reach("replace_one", 3) == 6 * ranking_reach("add_or_remove_one", 1)


def test_the_reach_is_attained():
    moved = sums(ranking(2), encoding(2), np.array([[1.0, -1.0]]), np.array([1.0]))
    assert moved.tolist() == [ranking_reach("add_or_remove_one", 1), -ranking_reach("add_or_remove_one", 1)]


def test_sums_are_right():
    rng = np.random.default_rng(1)
    table, y = rng.uniform(-3, 5, (5000, 6)), rng.uniform(-1, 1, 5000)
    query = ranking(6, cell_bound=0.5)
    found = sums(query, encoding(6, -3, 5), table, y).astype(float) * ranking_unit(query)
    assert found == pytest.approx(y @ np.clip((table - 1) / 4, -0.5, 0.5), abs=5000 * 2.0**-11)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cells", [0, 2**40], ids=["numpy", "numba"])
@pytest.mark.parametrize("kind", [np.float64, np.float16, np.longdouble, ">f4"])
def test_a_cell_counts_the_same_in_a_table_of_any_type(kind, cells):
    """One odd cell can change the type of a table; the other cells must not be rounded differently."""
    single = (
        np.random.default_rng(0).uniform(-1, 2, (20_000, 3)).astype(np.float16 if kind is np.float16 else np.float32)
    )
    single[0] = np.nan
    y, query = np.random.default_rng(1).uniform(-1, 1, 20_000), ranking(3)
    code = WideEncoding(np.full(3, -0.3), np.full(3, 1.1), -1.0, 1.0, cells)
    expected = sums(query, code, single.astype(np.float32), y)
    assert np.array_equal(sums(query, code, single.astype(kind), y), expected)
    narrow = WideEncoding(np.full(3, -1.0), np.full(3, 1.0), -1.0, 1.0, cells)
    assert (
        sums(query, narrow, np.rint(single), y) == sums(query, narrow, np.rint(single[1:]).astype(np.int8), y[1:])
    ).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_signalling_nan_is_no_number_without_a_warning(kind):
    table = np.zeros((3, 2), dtype=kind)
    table[1] = np.array([0x7F800001 if kind is np.float32 else 0x7FF00000000007A2], f"u{table.itemsize}").view(kind)
    block = encoding(2, -0.5, 1.0).encode(table, table[:, 0])
    out = np.empty((2, 3))
    block.write_x(out)
    assert np.isnan(out[0]).tolist() == np.isnan(block.y).tolist() == [False, True, False]
    block.weighted_sums(np.ones(3), 1.0)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sparse_rows_give_the_bits_of_dense_ones(kind):
    matrix = sparse.random(3000, 40, density=0.1, random_state=0, format="csr", dtype=kind)
    matrix.data[:3] = [np.nan, np.inf, -7]
    y = np.random.default_rng(0).uniform(-1, 1, 3000)
    query, code = ranking(40, cell_bound=0.7), encoding(40, -0.2, 1.0)
    dense = sums(query, code, matrix.toarray(), y)
    assert np.array_equal(sums(query, code, SparseRows(matrix), y), dense)


def test_a_missing_cell_adds_nothing_to_its_column_and_leaves_the_others_alone():
    table = np.array([[np.nan, 0.5]])
    found = sums(ranking(2), encoding(2), table, np.array([1.0]))
    assert found[0] == 0
    assert found[1] == sums(ranking(2), encoding(2), np.array([[0.0, 0.5]]), np.array([1.0]))[1]


def test_a_row_without_a_label_and_an_unused_row_add_nothing():
    table, y = np.ones((2, 2)), np.array([np.nan, 1.0])
    assert sums(ranking(2), encoding(2), table, y, np.array([True, False])).tolist() == [0, 0]


@given(arrays(np.float64, 5, elements=odd_cells), st.floats(1e-90, 1e90))
@settings(max_examples=100, deadline=None)
def test_weights_never_exceed_the_limit(weights, bound):
    whole = whole_weights(weights, bound)
    assert np.all(np.abs(whole) <= LIMIT)
    assert np.all(whole == np.rint(whole))


def test_candidates_are_absolute_or_of_both_signs_without_the_excluded():
    exact = np.array([5, -7, 3], dtype=object)
    indices, scores = candidates(ranking(3, excluded=np.array([0])), exact)
    assert (indices.tolist(), scores.tolist()) == ([1, 2], [7, 3])
    indices, scores = candidates(ranking(3, sides="both", excluded=np.array([0])), exact)
    assert (indices.tolist(), scores.tolist()) == ([1, 2, 4, 5], [-7, 3, 7, -3])
    query = ranking(3, offset=np.array([10.0, 0.0, 0.0]))
    offset = round(10 / ranking_unit(query))
    assert candidates(query, exact)[1].tolist() == [offset - 5, 7, 3]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_queries_on_a_support_see_those_columns_only(kind):
    rng = np.random.default_rng(2)
    table, y = rng.uniform(-1, 1, (50, 9)), rng.uniform(-1, 1, 50)
    columns, see = np.array([7, 2]), LinearMap(np.vstack([[0.1, 0.2, 0.3], np.eye(3)]))
    labels = Labels(0.0, 1.0)
    queries = [
        GradientSum(see, labels, lambda y, eta, length: eta - y, 10.0, 1.0),
        WeightedMoment(see, labels, lambda y, eta, length: eta - y, 10.0),
        SizeHistogram(see, labels, lambda y, eta, length: length, np.array([1.0, 1.2])),
        PowerSums(2, math.sqrt(2)),
    ]
    given = table if kind == "dense" else SparseRows(sparse.csr_matrix(table))
    used = np.arange(50) % 7 > 0
    wide = on_columns(columns, partial(several_parts, queries), encoding(9).encode(given, y), used)
    narrow = several_parts(queries, encoding(2).encode(table[:, columns], y), used)
    assert np.array_equal(wide, narrow)


@given(arrays(np.float64, (1, 5), elements=odd_cells), odd_cells)
@settings(max_examples=100, deadline=None)
def test_a_first_look_keeps_its_declared_norm(table, label):
    query = WideLook(5)
    _, right = query.factors(encoding(5).encode(table, np.array([label])))
    norm = float(np.sqrt(np.sum(right**2)))
    assert math.isnan(norm) or norm <= query.right_norm * (1 + 1e-12)
    counting = WideLook.counting(5)
    others = float(np.linalg.norm(counting.factors(encoding(5).encode(table, np.array([label])))[1][1:]))
    assert math.isnan(others) or others <= counting.right_norm * (1 + 1e-12)


def test_a_counting_look_at_two_opposite_rows_moves_by_what_it_declares():
    """And its count is free: a row without a label instead of one moves it by less."""
    query = WideLook.counting(3)
    rows = encoding(3).encode(np.array([[1.0, 1.0, -1.0], [0.0, 0.0, 0.0]]), np.array([1.0, -1.0]))
    one, other = query.factors(rows)[1].T
    whole = reach("counted", "replace_one", query.right_norm, count=query.count_weight)
    assert np.linalg.norm(one - other) == pytest.approx(whole) == pytest.approx(math.sqrt(5))
    assert np.linalg.norm(one) < whole < math.sqrt(7)
    assert query.count_weight <= math.sqrt(3) * query.right_norm < 2 * query.count_weight


def test_blocks_shrink_as_rows_widen():
    assert wide_block_rows(10_000) * 10_000 <= 2**23
    assert wide_block_rows(10) == 16384
    assert wide_block_rows(10**9) == 16


@pytest.mark.parametrize("bound", [0.0, 1e-100, 1e100, np.inf, np.nan])
def test_weights_bounds_that_floats_cannot_hold_are_refused(bound):
    with pytest.raises(ValueError, match="between 1e-100 and 1e100"):
        whole_weights(np.ones(2), bound)

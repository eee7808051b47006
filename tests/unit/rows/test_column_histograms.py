"""Histograms of all columns: each row counts once in each, whatever it holds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import ArrayBlock

from discreet.rows import left_grid, product_parts, query_sum, reach, right_grid
from discreet.rows.histograms import ColumnHistograms

QUERY = ColumnHistograms(width=3, cells=4)


def counts(query, x, used=None):
    """The exact sum, in rows."""
    block = ArrayBlock(np.asarray(x, dtype=float), np.zeros(np.shape(x)[1]))
    total = query_sum(query, product_parts(query, block, used)).astype(float)
    return total[:, 0] / (left_grid(query)[0] * right_grid(query)[0])


def test_rows_are_counted_in_equal_cells_of_the_encoded_range():
    x = [[-1.0, -0.5, 1.0], [0.0, 0.2, 0.49], [0.5, 0.9, -1.0]]
    expected = [[1, 1, 0, 1], [0, 0, 3, 0], [1, 0, 0, 2]]
    assert QUERY.read(counts(QUERY, x)[:, np.newaxis]).tolist() == expected


def test_incomplete_and_left_out_rows_count_nowhere():
    x = np.zeros((3, 3))
    x[1, 0] = np.nan
    assert counts(QUERY, x, np.array([True, True, False])).tolist() == [0, 0, 1, 0] * 3


numbers = st.one_of(st.floats(-1, 1), st.just(math.nan))
rows = st.lists(numbers, min_size=3, max_size=3)


@given(rows, rows)
def test_no_row_moves_the_counts_farther_than_reach(one, other):
    first, second = (counts(QUERY, np.array(row)[:, np.newaxis]) for row in (one, other))
    assert np.linalg.norm(first) <= reach("cells", "add_or_remove_one", QUERY.left_norm)
    assert np.linalg.norm(first - second) <= reach("cells", "replace_one", QUERY.left_norm) * (1 + 1e-15)


def test_the_worst_pair_reaches_the_bound():
    first, second = (counts(QUERY, np.full((3, 1), value)) for value in (-1.0, 1.0))
    assert np.linalg.norm(first - second) == pytest.approx(reach("cells", "replace_one", QUERY.left_norm))
    assert left_grid(QUERY)[1] == pytest.approx(QUERY.left_norm)


@dataclass(frozen=True)
class Untrue(ColumnHistograms):
    """A query that counts a row in cells of its own choice."""

    cell: tuple[int, ...] = (0, 0, 0)

    def factors(self, block):
        return np.array(self.cell, dtype=np.int64)[:, np.newaxis], super().factors(block)[1]


@pytest.mark.parametrize("cell", [(0, 0, 0), (3, 3, 3), (4, 11, -1), (-5, 2**62, 7)])
def test_a_wrong_query_cannot_count_a_row_twice_in_a_histogram(cell):
    found = counts(Untrue(3, 4, cell=cell), np.zeros((3, 1))).reshape(3, 4)
    assert np.all(found.sum(axis=1) <= 1)


@pytest.mark.parametrize("cell", [(0,), (0, 0, 0, 0)])
def test_a_query_with_more_histograms_than_it_declares_is_refused(cell):
    with pytest.raises(TypeError, match="one cell per record and histogram"):
        counts(Untrue(3, 4, cell=cell), np.zeros((3, 1)))


def test_cells_that_are_no_whole_histograms_are_refused():
    @dataclass(frozen=True)
    class Uneven(ColumnHistograms):
        shape: tuple[int, int] = (13, 1)

    with pytest.raises(TypeError, match="equal size"):
        counts(Uneven(3, 4), np.zeros((3, 1)))
    assert replace(QUERY, cells=2).shape == (6, 1)

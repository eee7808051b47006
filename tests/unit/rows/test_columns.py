"""Columns as files store them: put into one array where all are numbers, and left alone otherwise."""

from __future__ import annotations

import numpy as np

from discreet.rows.columns import Coded, Columns


def test_columns_of_numbers_become_the_lines_of_one_array():
    arrays = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])]
    stacked = Columns(arrays, 3).stacked(np.empty)
    assert np.array_equal(stacked.arrays, arrays)
    assert isinstance(stacked.arrays, np.ndarray)
    assert len(stacked) == 3


def test_columns_of_other_types_stay_apart():
    mixed = Columns([np.array([1.0, 2.0]), np.array(["a", "b"])], 2)
    whole = Columns([np.array([1.0, 2.0]), np.array([1, 2])], 2)
    assert mixed.stacked(np.empty) is mixed
    assert whole.stacked(np.empty) is whole


def test_missing_cells_are_one_value_and_cells_that_are_spelt_otherwise_are_not():
    coded = Coded.of([None, float("nan"), 1, 1.0, True, "1", None, [1], [1]])
    assert coded.codes.tolist() == [0, 0, 1, 2, 3, 4, 0, 5, 6]
    assert len(coded.distinct) == 7

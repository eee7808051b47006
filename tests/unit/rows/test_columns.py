"""Columns as files store them, and columns of objects by their different cells."""

from __future__ import annotations

import numpy as np

from discreet.rows.columns import Coded, Columns


def test_only_columns_of_floats_in_one_piece_count_as_such():
    floats = np.array([1.0, 2.0])
    assert Columns([floats, floats], 2).floats
    others = (np.array(["a", "b"]), np.array([1, 2]), np.arange(4.0)[::2], Coded.of(["a", "b"]))
    assert not any(Columns([floats, other], 2).floats for other in others)


def test_missing_cells_are_one_value_and_cells_that_are_spelt_otherwise_are_not():
    coded = Coded.of([None, float("nan"), 1, 1.0, True, "1", None, [1], [1]])
    assert coded.codes.tolist() == [0, 0, 1, 2, 3, 4, 0, 5, 6]
    assert len(coded.distinct) == 7

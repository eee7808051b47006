"""Public data is rows or their second moment, never both."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import DomainError, Public


def test_public_data_is_rows_or_a_second_moment():
    Public(rows=np.ones((3, 2)))
    Public(second_moment=np.eye(3), n=10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either rows= or second_moment="),
        ({"rows": [[1]], "second_moment": [[1]], "n": 1}, "either rows= or second_moment="),
        ({"second_moment": np.ones((2, 3)), "n": 5}, "finite square matrix"),
        ({"second_moment": [[np.nan]], "n": 5}, "finite square matrix"),
        ({"second_moment": np.eye(2)}, "needs n="),
        ({"rows": [[1]], "exposure": [1]}, "belongs to labelled public rows"),
    ],
)
def test_anything_else_is_refused(arguments, message):
    with pytest.raises(DomainError, match=message):
        Public(**arguments)

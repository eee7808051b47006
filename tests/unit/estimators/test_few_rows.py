"""No rows or one: an error where their number is public, before anything is spent; nothing said
where it is private.
"""

from __future__ import annotations

import numpy as np
import pytest

from discreet import (
    Ledger,
    LinearRegression,
    LogisticRegression,
    PiecewiseExponentialRegressor,
    PoissonRegressor,
    SparseLinearRegression,
)

MODELS = [
    (LinearRegression, {"bounds_y": (0, 1)}),
    (LogisticRegression, {}),
    (PoissonRegressor, {"bounds_y": (0, 5)}),
    (SparseLinearRegression, {"bounds_y": (0, 1), "sparsity": 1}),
    (PiecewiseExponentialRegressor, {"breaks": (1, 2)}),
]


def data(rows):
    return np.zeros((rows, 2)), np.ones(rows, dtype=int)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize(("model", "options"), MODELS)
def test_too_few_rows_are_refused_before_the_charge(model, options, rows, tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", epsilon=1.0, delta=1e-6)
    asked = model(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), neighbours="replace_one", ledger=ledger, **options)
    with pytest.raises(ValueError, match=f"{rows} sample"):
        asked.fit(*data(rows))
    assert not ledger.history


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize(("model", "options"), MODELS)
def test_a_private_number_of_rows_is_not_told(model, options, rows):
    asked = model(epsilon=1.0, delta=1e-6, bounds_X=(-1, 1), neighbours="add_or_remove_one", **options)
    assert asked.fit(*data(rows)).signal_ in ("drowned", "faint", "clear")

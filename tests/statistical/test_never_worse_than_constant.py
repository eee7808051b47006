"""Where noise drowns the signal, the model falls back to the mean."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import LinearRegression


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("signal", [0.0, 0.3])
def test_little_data_and_budget_give_about_the_constant_model(signal, neighbours):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(2000, 10))
    y = np.clip(X @ np.full(10, signal) * 0.3 + rng.normal(0, 0.3, size=2000), -1, 1)
    model = LinearRegression(epsilon=0.1, delta=1e-6, bounds_X=(-1, 1), bounds_y=(-1, 1), neighbours=neighbours)
    excess = [np.mean((y - model.fit(X, y).predict(X)) ** 2) / np.var(y) - 1 for _ in range(60)]
    # Measured over 900 fits: a median of .05 at most, which is the error of the released mean
    # itself, and at most 5 % of fits above 1. Sixty fits stray beyond these limits less than once
    # in 10^6 runs.
    assert np.median(excess) < 0.2
    assert np.mean(np.array(excess) > 1.0) <= 0.25

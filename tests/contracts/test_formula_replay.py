"""Models with a formula keep their guarantee on neighbouring tables; the declaration bounds
features.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

from discreet import (
    Categorical,
    Domain,
    LinearRegression,
    Numeric,
    PoissonRegressor,
    ReLURegressor,
    SparsePoissonRegressor,
)
from discreet.audit import replay

DOMAIN = Domain(
    (
        Numeric("a", -1, 2),
        Numeric("b", 1, 5),
        Categorical("k", ("u", "v", "w")),
        Numeric("t", 0.2, 3),
        Numeric("y", 0, 10),
    )
)
TEXT = "y ~ a * k + bs(b, 4) + I(a**2):b"
MODELS = {
    "linear": (LinearRegression, TEXT),
    "poisson": (PoissonRegressor, TEXT + " + offset(log(t))"),
    "relu": (ReLURegressor, TEXT + " - 1"),
    "sparse": (partial(SparsePoissonRegressor, sparsity=2), TEXT),
}
# What one person's row is: the far corners, cells that nobody foresees, and nothing.
ROW = {"a": 2.0, "b": 5.0, "k": "w", "t": 3.0, "y": 10.0}
OTHERS = {
    "opposite": {"a": -1.0, "b": 1.0, "k": "u", "t": 0.2, "y": 0.0},
    "endless": {"a": np.inf, "b": -np.inf, "k": "v", "t": 1e300, "y": -np.inf},
    "missing": {"a": np.nan, "b": 1.0, "k": None, "t": 1.0, "y": 3.0},
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a": rng.uniform(-1, 2, 1500),
            "b": rng.uniform(1, 5, 1500),
            "k": rng.choice(["u", "v", "w"], 1500).astype(object),
            "t": rng.uniform(0.2, 3, 1500),
        }
    )
    return frame.assign(y=np.minimum(rng.poisson(frame["t"] * np.exp(0.3 * frame["a"])), 10).astype(float))


@pytest.mark.parametrize("neighbours", ["replace_one", "add_or_remove_one"])
@pytest.mark.parametrize("other", list(OTHERS))
@pytest.mark.parametrize("name", list(MODELS))
def test_no_more_is_lost_than_claimed(name, other, neighbours, rows):
    kind, text = MODELS[name]
    one = rows.copy()
    one.loc[7] = ROW
    two = one.copy()
    two.loc[7] = OTHERS[other]
    if neighbours == "add_or_remove_one":
        two = one.drop(index=7)
    model = kind(epsilon=2.0, delta=1e-6, domain=DOMAIN, formula=text, neighbours=neighbours)
    report = replay(model, (one, one["y"]), (two, two["y"]))
    assert report.passed, str(report)

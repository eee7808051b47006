"""Fitted models of every kind, on columns that do not stand in the alphabet's order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from discreet import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    PrivateGridSearchCV,
    ReLURegressor,
    Ridge,
    SingleIndexRegressor,
    SparseLinearRegression,
)
from discreet.glm import Logit
from discreet.glm.index_links import LeakyReLU

PRIVATE = {"epsilon": 2.0, "delta": 1e-6}
BOUNDS = {"zeta": (-3, 3), "age": (0, 10), "mid": (-1, 1)}


def table(rows: int = 3000) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """Columns that do not stand in the alphabet's order, and labels of several kinds."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"zeta": rng.normal(0, 1, rows), "age": rng.uniform(0, 10, rows), "mid": rng.uniform(-1, 1, rows)}
    )
    eta = 0.8 * frame["zeta"] + 0.2 * frame["age"] - 1.0
    labels = {
        "cost": eta * 100 + rng.normal(0, 50, rows),
        "ill": (rng.random(rows) < 1 / (1 + np.exp(-eta))).astype(int),
        "claims": rng.poisson(np.exp(0.5 * eta - 0.5)),
        "kind": np.digitize(eta + rng.normal(0, 1, rows), [-0.5, 0.8]),
    }
    return frame, {name: pd.Series(values, name=name) for name, values in labels.items()}


def fits() -> dict[str, Any]:
    X, y = table()
    linear = {**PRIVATE, "bounds_X": BOUNDS, "bounds_y": (-1000, 1000)}
    return {
        "linear": LinearRegression(**linear).fit(X, y["cost"]),
        "moments": LinearRegression(**linear, solver="moments").fit(X, y["cost"]),
        "without": LinearRegression(**linear, fit_intercept=False).fit(X, y["cost"]),
        "paper": LinearRegression(**{**linear, "epsilon": 0.9}, calibration="paper").fit(X, y["cost"]),
        "logistic": LogisticRegression(**PRIVATE, bounds_X=BOUNDS).fit(X, y["ill"]),
        "classes": LogisticRegression(**PRIVATE, bounds_X=BOUNDS, classes=[0, 1, 2]).fit(X, y["kind"]),
        "poisson": PoissonRegressor(**PRIVATE, bounds_X=BOUNDS, bounds_y=(0, 30)).fit(X, y["claims"]),
        "relu": ReLURegressor(**linear).fit(X, y["cost"]),
        "pgd": ReLURegressor(**linear, solver="pgd").fit(X, y["cost"]),
        "leaky": SingleIndexRegressor(**linear, link=LeakyReLU(0.2)).fit(X, y["cost"]),
        "sigmoid": SingleIndexRegressor(**linear, link=Logit()).fit(X, y["cost"]),
        "sparse": SparseLinearRegression(**linear, sparsity=2).fit(X, y["cost"]),
        "search": PrivateGridSearchCV(Ridge(**linear), {"alpha": [0.1, 10.0]}).fit(X, y["cost"]),
    }

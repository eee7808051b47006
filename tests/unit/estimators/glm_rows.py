"""Simulated rows for tests of generalized linear models."""

from __future__ import annotations

import numpy as np
import sklearn.linear_model as plain

from discreet import (
    Categorical,
    Domain,
    GammaRegressor,
    GeneralizedLinearRegressor,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
)

PRIVATE = {"epsilon": 1.0, "delta": 1e-6}
FREE = {"epsilon": 1e6, "delta": 1e-6}  # as good as no noise
BOX = {"bounds_X": (-2, 2)}
EXACT = {"tol": 1e-10, "max_iter": 1000}
SLOPES = np.array([0.8, -0.5, 0.1])
# Wide enough that nothing is cut.
BOUNDS_Y = {"gaussian": (-20, 20), "poisson": (0, 60), "gamma": (1e-6, 100)}


def rows(family: str, n: int = 3000, seed: int = 0, exposure: np.ndarray | None = None):
    """X within (-2, 2) and labels of the family with intercept 0.3 and SLOPES."""
    rng = np.random.default_rng(seed)
    X = np.clip(rng.normal(0.2, 0.6, (n, 3)), -2, 2)
    eta = 0.3 + X @ SLOPES
    mean = np.exp(eta) * (1.0 if exposure is None else exposure)
    labels = {
        "gaussian": lambda: eta + 0.5 * rng.normal(size=n),
        "bernoulli": lambda: (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int),
        "poisson": lambda: rng.poisson(mean),
        "gamma": lambda: rng.gamma(2.0, mean / 2),
    }
    return X, labels[family]()


def model_of(family: str, **more):
    if family == "bernoulli":
        return LogisticRegression(**FREE | BOX | more)
    kind = {"poisson": PoissonRegressor, "gamma": GammaRegressor}.get(family, GeneralizedLinearRegressor)
    return kind(**FREE | BOX | {"bounds_y": BOUNDS_Y[family]} | more)


def peer_of(family: str, alpha: float = 0.0, n: int = 1, fit_intercept: bool = True):
    """scikit-learn's model; its penalties are for means or, in LogisticRegression, for sums of
    losses.
    """
    if family == "bernoulli":
        return plain.LogisticRegression(C=1 / alpha if alpha else np.inf, fit_intercept=fit_intercept, **EXACT)
    if family == "gaussian":
        return plain.Ridge(alpha, fit_intercept=fit_intercept)
    kind = plain.PoissonRegressor if family == "poisson" else plain.GammaRegressor
    return kind(alpha=alpha / n, fit_intercept=fit_intercept, **EXACT)


def exposed(n: int = 3000):
    times = np.random.default_rng(5).uniform(0.2, 3.0, n)
    X, y = rows("poisson", n, exposure=times)
    peer = plain.PoissonRegressor(alpha=0, **EXACT).fit(X, y / times, sample_weight=times)
    return X, y, times, peer


def mixed():
    """A frame with a number and a category, its domain, and the same as plain columns."""
    X, _ = rows("bernoulli")
    kind = np.random.default_rng(1).choice(["a", "b", "c"], len(X))
    design = np.column_stack([X[:, 0], kind == "b", kind == "c"]).astype(float)
    eta = design @ [0.8, 0.7, -0.6]
    y = (np.random.default_rng(2).random(len(X)) < 1 / (1 + np.exp(-eta))).astype(int)
    domain = Domain((Numeric("age", -2, 2), Categorical("kind", ("a", "b", "c"))))
    return {"age": X[:, 0], "kind": kind}, domain, design, y

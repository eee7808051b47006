"""California housing, gas turbine and wine for RELU's figures: all rows, and the solvers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from discreet import GuaranteeError, ReLURegressor
from experiments.data import data_folder

PUBLIC_ROWS = 500
CURVES = ("sgd", "pgd", "glmtron paper", "glmtron", "tree", "minibatch paper", "minibatch", "auto")
PLAIN = "no privacy"
# File, label, its largest value, columns left out.
SETS: dict[str, tuple[str, str, float, tuple[str, ...]]] = {
    "California": ("california_housing.parquet", "MedHouseVal", 5.1, ()),
    "gas turbine": ("gas_turbine_emissions.parquet", "NOX", 120.0, ("CO", "year")),
    "wine": ("wine_quality_white.parquet", "quality", 10.0, ()),
}


def load(name: str, seed: int) -> tuple[np.ndarray, ...]:
    """Public, private and test rows, features standardised by the public ones."""
    file, target, largest, out = SETS[name]
    frame = pd.read_parquet(data_folder(file) / file).drop(columns=list(out))
    order = np.random.default_rng(seed).permutation(len(frame))
    X = frame.drop(columns=target).to_numpy(dtype=float)[order]
    y = frame[target].to_numpy(dtype=float)[order] / largest
    train = int(0.8 * len(frame))
    public = X[:PUBLIC_ROWS]
    X = (X - public.mean(axis=0)) / public.std(axis=0)
    private = slice(PUBLIC_ROWS, train)
    return X[:PUBLIC_ROWS], y[:PUBLIC_ROWS], X[private], y[private], X[train:], y[train:]


def loss(X: np.ndarray, y: np.ndarray, coefficients: np.ndarray) -> float:
    """Half the mean squared error of max(0, b + X w)."""
    return float(np.mean((np.maximum(coefficients[0] + X @ coefficients[1:], 0) - y) ** 2) / 2)


def fitted(curve: str, X: np.ndarray, y: np.ndarray, seed: int, **declared: Any) -> ReLURegressor | None:
    """The product's solver of this name; None where its printed noise is refused."""
    solver, _, printed = curve.partition(" ")
    model = ReLURegressor(**declared, solver=solver, calibration=printed or "tight", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(X, y)
        except GuaranteeError:
            return None


def plain_fit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """GLMtron's steps without privacy, with the second moment of all rows: its point of least loss,
    which is near the least-squares one where the model holds.
    """
    coef = np.linalg.lstsq(X, y, rcond=None)[0]
    inverse = np.linalg.pinv(X.T @ X)
    best, least = coef, np.inf
    for _ in range(200):
        residual = y - np.maximum(X @ coef, 0)
        size = float(residual @ residual)
        if size < least:
            best, least = coef, size
        coef = coef + inverse @ (X.T @ residual)
    return best

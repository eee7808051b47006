"""California housing, gas turbine and wine for RELU's figures: losses of every solver along its
path, on all rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd

from discreet import GuaranteeError, Public, ReLURegressor
from experiments.data import data_folder
from experiments.runner import Cell, Figure

PUBLIC_ROWS = 500
CURVES = ("sgd", "pgd", "glmtron paper", "glmtron", "tree", "minibatch paper", "minibatch", "auto")
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


def losses(name: str, epsilon: float, share: float, test: bool, seed: int) -> Mapping[str, float]:
    """Of the iterate after this share of the steps; of the model that is returned where it is 1."""
    X_public, y_public, X, y, X_test, y_test = load(name, seed)
    where = (X_test, y_test) if test else (X, y)
    found = {}
    for curve in CURVES:
        solver, _, printed = curve.partition(" ")
        model = ReLURegressor(
            epsilon=epsilon,
            delta=len(y) ** -1.1,
            data_norm=3 * math.sqrt(X.shape[1]),
            bounds_y=(0, 1),
            public=Public(rows=X_public, y=y_public),
            solver=solver,
            calibration=printed or "tight",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X, y)
            except GuaranteeError:
                found[curve] = math.nan
                continue
        last = np.concatenate([[model.intercept_], model.coef_])
        path = getattr(model, "path_", None)
        at = last if share == 1 or path is None else path[round(share * (len(path) - 1))]
        found[curve] = loss(*where, at)
    return found


def loss_figure(number: int, title: str, *, test: bool) -> Figure:
    """Losses on training or test rows after shares of the steps, by data set and epsilon."""

    def run(cell: Cell, seed: int) -> Mapping[str, float]:
        return losses(cell["set"], cell["epsilon"], cell["share"], test, seed)

    cells = [
        {"set": name, "epsilon": epsilon, "share": share}
        for name in SETS
        for epsilon in (0.05, 0.2, 0.5)
        for share in (0.1, 0.5, 1.0)
    ]
    return Figure(
        name=f"figure{number}",
        title=f"RELU, figure {number}: {title}",
        says="DP-MBGLMtron is best, then DP-TAGLMtron, DP-GLMtron and DP-SGD; the gap shrinks as epsilon grows.",
        cells=cells,
        quick=[cell for cell in cells if cell["share"] == 1.0 and cell["set"] == "wine"],
        run=run,
        curves=CURVES,
        axis="share",
        repeats=10,
        measure="half the mean squared error",
        notes=(
            "One pass, so the axis is the share of steps done; at 1 it is the model that is returned. 500 public rows\n"
            "standardise, whiten and give thresholds; all other training rows are private."
        ),
    )

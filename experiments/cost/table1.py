"""COST, the sparse real-data table (figure 3): misclassification on wide data, printed and tight."""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from discreet import GuaranteeError, SparseLogisticRegression
from experiments.data import data_folder
from experiments.runner import Cell, Figure, main

SPARSITIES, EPSILONS = (25, 50, 100), (0.2, 0.5)
CELLS = [
    {"set": name, "delta": delta, "s": s, "epsilon": epsilon}
    for name in ("stand-in", "superconductor")
    for delta in ("1/2n", "1/n^2")
    for s in SPARSITIES
    for epsilon in EPSILONS
]
CURVES = ("paper", "iht", "auto", "no privacy")


def swarm(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The stand-in: flocking individuals move with the group, others on their own; positions say
    little.
    """
    rows, individuals, attributes = 24_016, 200, 12
    flocking = rng.random(rows) < 0.5
    X = rng.standard_normal((rows, individuals, attributes), dtype=np.float32)
    group = rng.standard_normal((rows, 1, 2), dtype=np.float32)
    together = (0.1 + 0.5 * rng.random((1, individuals, 1))).astype(np.float32) * flocking[:, None, None]
    X[:, :, :2] = (1 - together) * X[:, :, :2] + together * group
    X[:, :, 2:5] += 0.25 * flocking[:, None, None]  # alignment, cohesion and neighbours are higher in a flock
    return np.clip(X.reshape(rows, -1) / 4, -1, 1), flocking.astype(int)


def superconductors(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_parquet(data_folder("superconductivity.parquet") / "superconductivity.parquet")
    order = rng.permutation(len(frame))
    cells = frame.drop(columns="critical_temp").to_numpy(np.float32)[order]
    label = (frame["critical_temp"].to_numpy() > 20).astype(int)[order]
    public, cells, label = cells[: len(order) // 10], cells[len(order) // 10 :], label[len(order) // 10 :]
    low, high = np.quantile(public, [0.01, 0.99], axis=0)
    scaled = np.clip(2 * (cells - low) / np.maximum(high - low, 1e-9) - 1, -1, 1).astype(np.float32)
    first, second = np.triu_indices(scaled.shape[1])
    return np.hstack([scaled, scaled[:, first] * scaled[:, second]]), label


def non_private(X: np.ndarray, y: np.ndarray, sparsity: int) -> tuple[np.ndarray, float]:
    """Correlation screening without noise, then plain logistic regression on what it finds, in
    three rounds.
    """
    from sklearn.linear_model import LogisticRegression

    chosen, residual = np.zeros(0, dtype=int), y - y.mean()
    model = LogisticRegression(C=10.0, max_iter=500)
    for number in range(3):
        score = np.abs(X.T @ residual.astype(np.float32))
        score[chosen] = -1
        picks = sparsity // 3 + (number < sparsity % 3)
        chosen = np.append(chosen, np.argsort(-score)[:picks])
        model.fit(X[:, chosen], y)
        residual = y - model.predict_proba(X[:, chosen])[:, 1]
    return chosen, model


MAKERS = {"stand-in": swarm, "superconductor": superconductors}


@lru_cache(maxsize=1)
def halves(name: str, seed: int) -> tuple[np.ndarray, ...]:
    """Training rows and labels, test rows and labels."""
    rng = np.random.default_rng(seed)
    X, y = MAKERS[name](rng)
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    return X[train], y[train], X[test], y[test]


def fit(curve: str, data: tuple[np.ndarray, ...], cell: Cell, seed: int) -> float:
    X, y, X_test, y_test = data
    if curve == "no privacy":
        chosen, plain = non_private(X, y, cell["s"])
        return float(np.mean(plain.predict(X_test[:, chosen]) != y_test))
    delta = len(y) ** -2.0 if cell["delta"] == "1/n^2" else 1 / (2 * len(y))
    asked: dict[str, Any] = {"epsilon": cell["epsilon"], "delta": delta, "sparsity": cell["s"], "bounds_X": (-1, 1)}
    more: dict[str, dict[str, Any]] = {
        "paper": {"calibration": "paper", "max_iter": 50, "step": 0.5},
        "iht": {"solver": "iht"},
        "auto": {},
    }
    model = SparseLogisticRegression(**asked, **more[curve], random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return float(np.mean(model.fit(X, y).predict(X_test) != y_test))
        except GuaranteeError:
            return math.nan


FIGURE = Figure(
    name="table1",
    title="COST, figure 3: misclassification with sparse logistic models on wide data",
    says=(
        "on Swarm Behaviour, with s = 25, 50, 100. delta = 1/2n: .33 .21 .13 at epsilon .2, .28 .20 .10 at .5;\n"
        "delta = 1/n^2: .32 .22 .13 at .2, .33 .19 .08 at .5; without privacy .30 .21 .09."
    ),
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["s"] == 25 and cell["delta"] == "1/2n"],
    make=lambda cell, seed: halves(cell["set"], seed),
    fit=fit,
    curves=CURVES,
    axis="s",
    repeats=5,
    quick_repeats=1,
    measure="share of test rows that are misclassified",
    notes=(
        "Swarm Behaviour (24,016 x 2,400) is not available here. In its place stand (1) a simulated stand-in of the\n"
        "same shape: 200 individuals with 12 attributes each, which share a direction when they flock, and (2) a\n"
        'real wide set: superconductivity, its 81 features and all their products (3,402 columns), label "critical\n'
        'temperature above 20 K". Bounds of (2) are the 1 and 99 % quantiles of a tenth of the rows, which is set\n'
        "aside as public. Half of the other rows train and half test. `paper` takes the 50 printed steps of size .5."
    ),
    log=False,
    found=(
        "Not reproduced: with the printed noise the classifier guesses. `auto` is usable at both deltas. At "
        "epsilon .5 it is .01 to .04 above plain selection for s = 25 and 50, and .01 to .05 for s = 100; at "
        "epsilon .2 on the stand-in with s = 100 it has .22 and .32, where plain selection has .11: so many "
        "columns cost much noise. Two of five fits on superconductivity at s = 100, epsilon .2 and delta "
        "1/n^2 guess. `iht` is above `auto` in every cell but that one (by means; by medians it is above "
        "there, too)."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

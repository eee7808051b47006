"""Newer work, table 1: linear regression, the default beside stable least squares, adaptive
clipping and Huber.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq

from discreet import GeneralizedLinearRegressor, LinearRegression, huber
from discreet.privacy import GDP
from experiments.data import data_folder
from experiments.newer.adaptive_clipping import clipped_descent
from experiments.newer.dp_huber import dp_huber
from experiments.newer.stable_least_squares import planned, stable_least_squares
from experiments.runner import Cell, Figure, main

DELTA, COLUMNS, STEPS = 1e-6, 10, 30
SIMULATED = ("normal", "condition 10,000", "2 % outliers")
CELLS = [
    *({"set": name, "n": n, "epsilon": e} for name in SIMULATED for n in (20_000, 100_000) for e in (1.0, 4.0)),
    *({"set": "ccpp", "n": 9568, "epsilon": e} for e in (1.0, 4.0)),
    *({"set": "GPU", "n": 241_600, "epsilon": e} for e in (1.0, 4.0)),
]
CURVES = ("auto", "stable least squares", "adaptive clipping", "DP Huber", "huber", "no privacy")


@dataclass(frozen=True)
class Problem:
    """Rows on columns of spread 1, what is declared, and what a perfect fit has."""

    X: np.ndarray
    y: np.ndarray
    bounds: tuple[np.ndarray, np.ndarray]
    label_bounds: tuple[float, float]
    truth: np.ndarray  # of (1, x)
    moment: np.ndarray  # of (1, x)
    variance: float

    def error(self, beta: np.ndarray) -> float:
        """Excess risk over the variance of the noise."""
        gap = beta - self.truth
        return float(gap @ self.moment @ gap / self.variance)


def simulated(name: str, n: int, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    scale = np.geomspace(1, 1e-2 if name.startswith("condition") else 1, COLUMNS)
    basis = np.linalg.qr(rng.normal(size=(COLUMNS, COLUMNS)))[0] if name.startswith("condition") else np.eye(COLUMNS)
    root = basis * scale
    spread = np.linalg.norm(root, axis=1)
    root = root / spread[:, np.newaxis]
    X = rng.normal(size=(n, COLUMNS)) @ root.T
    direction = rng.normal(size=COLUMNS)
    beta = np.linalg.solve(root.T, direction / np.linalg.norm(direction))
    y = X @ beta + 0.5 * rng.normal(size=n)
    if name.endswith("outliers"):
        y = np.where(rng.random(n) < 0.02, rng.uniform(-7, 7, n), y)
    moment = np.eye(COLUMNS + 1)
    moment[1:, 1:] = root @ root.T
    ends = np.full(COLUMNS, 5.0)
    return Problem(X, y, (-ends, ends), (-8.0, 8.0), np.concatenate([[0.0], beta]), moment, 0.25)


def real(name: str, seed: int) -> Problem:
    """All rows; the seed changes the noise only. Bounds are the ranges of the columns, for every
    method.
    """
    file, labels = (
        ("ccpp.parquet", ["PE"]) if name == "ccpp" else ("sgemm_gpu.parquet", [f"Run{i}_ms" for i in range(1, 5)])
    )
    frame = pq.read_table(data_folder(file) / file).to_pandas()
    y = frame[labels].mean(axis=1).to_numpy(float)
    y = y if name == "ccpp" else np.log(y)
    X = frame.drop(columns=labels).to_numpy(float)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    design = np.column_stack([np.ones(len(y)), X])
    truth = np.linalg.lstsq(design, y, rcond=None)[0]
    variance = float(np.mean((y - design @ truth) ** 2))
    bounds = X.min(axis=0), X.max(axis=0)
    return Problem(X, y, bounds, (float(y.min()), float(y.max())), truth, design.T @ design / len(y), variance)


def stable(problem: Problem, epsilon: float, rng: np.random.Generator) -> float:
    """Infinite where no guarantee exists with so few rows, or where the test refuses.

    A kind choice: the bound on leverage is that of the rows themselves, or of all but their five
    largest.
    """
    design = np.column_stack([np.ones(len(problem.y)), problem.X])
    rows = np.column_stack([design, problem.y])
    leverage = np.sort(np.sum(np.linalg.solve(np.linalg.qr(rows, mode="r").T, rows.T) ** 2, axis=0))
    plans = {out: planned(epsilon, DELTA, 1.001 * leverage[-1 - out], design.shape[1]) for out in (0, 5)}
    usable = [plan for out, plan in plans.items() if plan is not None and plan.threshold >= 4 * out]
    plan = min(usable, key=lambda plan: plan.noise, default=None)
    if plan is None:
        return math.inf
    beta, _ = stable_least_squares(design, problem.y, plan, rng)
    return math.inf if beta is None else problem.error(beta)


def make(cell: Cell, seed: int) -> Problem:
    if cell["set"] in SIMULATED:
        return simulated(cell["set"], cell["n"], seed)
    return real(cell["set"], seed)


def fit(curve: str, problem: Problem, cell: Cell, seed: int) -> float:
    X, y, epsilon = problem.X, problem.y, cell["epsilon"]
    rng = np.random.default_rng([seed, 1])
    design = np.column_stack([np.ones(len(y)), X])
    if curve == "stable least squares":
        return stable(problem, epsilon, rng)
    if curve == "adaptive clipping":
        return problem.error(clipped_descent(design, y, epsilon, DELTA, STEPS, rng))
    if curve == "DP Huber":
        mu, width = GDP.from_epsilon(epsilon, DELTA).mu, 1.345 * math.sqrt(problem.variance)
        return problem.error(dp_huber(design, y, mu, width, math.sqrt(design.shape[1]), STEPS, rng))
    if curve == "no privacy":
        return problem.error(np.linalg.lstsq(design, y, rcond=None)[0])
    asked = {"epsilon": epsilon, "delta": DELTA, "bounds_X": problem.bounds, "bounds_y": problem.label_bounds}
    asked["random_state"] = seed
    if curve == "auto":
        model = LinearRegression(**asked)
    else:
        model = GeneralizedLinearRegressor(**asked, loss=huber(1.345 * math.sqrt(problem.variance)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return problem.error(np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)]))


FIGURE = Figure(
    name="table1",
    title="Newer work, table 1: linear regression",
    says="see docs/papers/newer.md for what each column is, its guarantee, and what of its paper could be read.",
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["set"] in ("normal", "ccpp")],
    make=make,
    fit=fit,
    curves=CURVES,
    axis="epsilon",
    repeats=20,
    measure="excess risk over the variance of the noise",
    notes=(
        "Infinite: no guarantee exists with so few rows, or the private test refused to answer. On real sets the\n"
        "excess is over the plain fit to the same rows."
    ),
    found=(
        "`auto` has the least error of the private methods on normal rows, on CCPP and on GPU. With 2 %\n"
        "outliers Huber's loss (`huber`, DP Huber) is better at epsilon 4 and at 100,000 rows, by 2 to 10\n"
        "times: it estimates the slopes without the outliers, which `auto` does not. At condition 10,000\n"
        "`auto` is near the plain fit by medians, but one of 20 fits is far off in three cells, so that its\n"
        "mean is above that of `huber` there. Stable least squares has no guarantee with few rows, and\n"
        "refuses in some runs elsewhere; where it answers it has 1 to 900 times the error of `auto`.\n"
        "Adaptive clipping and DP Huber do not converge at condition 10,000 in 30 steps."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

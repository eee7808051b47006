"""Slopes of rare categories: `python -m experiments.rare_categories`, results beside this file.

Indicators of 1 to 6 % of the rows beside normal columns; n = 20,000, 8 columns, delta 1e-6, bounds
of normal columns at 4 standard deviations. The plain fit of the same rows gives the unit of errors.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from discreet import GammaRegressor, LinearRegression, LogisticRegression, PoissonRegressor
from experiments.pages import write_page

N, COLUMNS = 20_000, 8
# Constants were chosen with other seeds.
FIRST_SEED = 50_000
RESULT = Path(__file__).with_name("rare_categories.md")
EPSILONS = 0.3, 1.0, 3.0
DESIGNS = {
    "one of 5 %": (0.05,),
    "1, 3 and 6 %": (0.01, 0.03, 0.06),
    "correlated, 4 %": (0.04,),
    "levels of 40, 4, 3, 2, 1 %": (0.4, 0.04, 0.03, 0.02, 0.01),
    "region: levels of 30, 15, 8, 5, 3, 2 %": (0.3, 0.15, 0.08, 0.05, 0.03, 0.02),
}
MODELS = ("linear", "logistic", "poisson", "gamma")


@dataclass(frozen=True)
class Cell:
    model: str
    design: str
    epsilon: float


def drawn_columns(design: str, rng: np.random.Generator) -> np.ndarray:
    """Indicators first, then normal columns."""
    shares = DESIGNS[design]
    X = np.clip(rng.normal(size=(N, COLUMNS)), -4, 4)
    if "levels" in design:  # of one column, so that no row has two
        level = rng.choice(len(shares) + 1, size=N, p=[1 - sum(shares), *shares])
        X[:, : len(shares)] = level[:, np.newaxis] == np.arange(1, len(shares) + 1)
    else:
        X[:, : len(shares)] = rng.random((N, len(shares))) < shares
    if "correlated" in design:
        X[:, 1:3] = np.clip(X[:, 1:3] + 2 * X[:, :1], -4, 4)
    return X


def fitted(cell: Cell, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Errors and standard errors in those of the plain fit, whether intervals cover the truth, all
    for indicators; and the distance of the coefficients for prediction.
    """
    import statsmodels.api as sm

    rng, rare = np.random.default_rng(seed), len(DESIGNS[cell.design])
    X = drawn_columns(cell.design, rng)
    slopes = np.array([1.0] * rare + [0.3] * (COLUMNS - rare))
    eta = (X - X.mean(axis=0)) @ slopes
    low, high = np.array([0.0] * rare + [-4.0] * (COLUMNS - rare)), np.array([1.0] * rare + [4.0] * (COLUMNS - rare))
    declared: dict[str, Any] = {"epsilon": cell.epsilon, "delta": 1e-6, "bounds_X": (low, high)}
    model: Any
    if cell.model == "linear":
        y, model = np.clip(eta + rng.normal(size=N), -8, 8), LinearRegression(**declared, bounds_y=(-8, 8))
        law = sm.families.Gaussian()
    elif cell.model == "logistic":
        y, model = (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(int), LogisticRegression(**declared, classes=[0, 1])
        law = sm.families.Binomial()
    elif cell.model == "poisson":
        y, model = np.minimum(rng.poisson(np.exp(eta - 0.5)), 40), PoissonRegressor(**declared, bounds_y=(0, 40))
        law = sm.families.Poisson()
    else:
        y, model = np.clip(rng.gamma(2, np.exp(eta) / 2), 0.01, 60), GammaRegressor(**declared, bounds_y=(0.01, 60))
        law = sm.families.Gamma(sm.families.links.Log())
    model.fit(X, y)
    plain = sm.GLM(y, sm.add_constant(X), family=law).fit()
    results, some = model.results_, slice(1, 1 + rare)
    estimates, errors = np.ravel(results.params)[some], np.ravel(results.bse)[some]
    low, high = results.intervals()[some].T
    away = np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)]) - plain.params
    distance = float(away @ np.linalg.solve(plain.cov_params(), away)) / len(away)
    unit = plain.bse[some]
    return (estimates - plain.params[some]) / unit, errors / unit, (low <= 1) & (high >= 1), distance


def _row(asked: tuple[Cell, int]) -> tuple[Cell, tuple[float, ...]]:
    cell, sets = asked
    all_sets = [fitted(cell, FIRST_SEED + seed) for seed in range(sets)]
    off, errors, covered, distances = (np.array(part) for part in zip(*all_sets, strict=True))
    return cell, (
        float(np.median(np.abs(off))),
        float(np.sqrt(np.mean(off**2))),
        float(np.median(errors)),
        float(np.mean(covered)),
        float(np.median(distances)),
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 1000 else "unknown" if value > 1e5 else f"{value:.0f}"


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=40)
    sets = parser.parse_args(arguments).sets
    lines = [
        "# Slopes of rare categories",
        "",
        f"`python -m experiments.rare_categories --sets {sets}`: n = {N:,}, {COLUMNS} columns, of which the first are",
        "indicators of these shares of rows, with slopes of 1. Errors and standard errors of their slopes, in",
        "standard errors of the plain fit of the same rows; the part of 95 % intervals that hold the truth; and the",
        "squared distance of the coefficients for prediction from the plain ones, in plain covariances, per",
        "coefficient. An unknown error: noise hides the column, and the summary says so. The gamma family and the",
        "design with regions had no part in the choice of any constant.",
        "",
        "| model | indicators | epsilon | median error | root mean square | median std error | coverage | distance |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    cells = [Cell(model, design, epsilon) for model in MODELS for design in DESIGNS for epsilon in EPSILONS]
    with ProcessPoolExecutor() as pool:
        for done, (cell, found) in enumerate(pool.map(_row, [(cell, sets) for cell in cells]), start=1):
            middle, root, error, covered, distance = found
            numbers = f"{middle:.1f} | {_number(root)} | {_number(error)} | {covered:.2f} | {_number(distance)}"
            lines.append(f"| {cell.model} | {cell.design} | {cell.epsilon:g} | {numbers} |")
            print(f"[{done}/{len(cells)}] {lines[-1]}", flush=True)
    write_page(RESULT, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

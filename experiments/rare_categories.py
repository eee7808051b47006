"""Slopes of rare categories: `python -m experiments.rare_categories`, results beside this file.

Indicators of 1 to 6 % of the rows beside normal columns, and declared categories of 2 to 30 levels
beside 4 normal columns; n = 20,000, delta 1e-6, bounds of normal columns at 4 standard deviations.
The plain fit of the same rows gives the unit of errors.
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
import pandas as pd
from scipy.special import ndtr

from discreet import (
    Categorical,
    Domain,
    GammaRegressor,
    LinearRegression,
    LogisticRegression,
    Numeric,
    PoissonRegressor,
)
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
# The shares of the levels of declared categories.
DECLARED = {
    "declared: 12 levels, shares like 1 / rank": (1 / np.arange(1, 13),),
    "declared: 24 even levels": (np.ones(24),),
    "declared: 30 levels, half of them .3 %": (np.repeat([0.955, 0.045], 15),),
    "declared: 12, 4 and 2 levels, correlated": (1 / np.arange(1, 13), np.ones(4), np.array([0.97, 0.03])),
    "declared: a reference of 1 % and 5 levels": (np.array([0.05, 1, 1, 1, 1, 0.95]),),
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


def declared_table(design: str, rng: np.random.Generator) -> tuple[pd.DataFrame, Domain, np.ndarray]:
    """Categories and 4 normal columns, their domain, and the columns of the plain fit."""
    hidden, columns, parts = rng.normal(size=N), {}, []
    share = 0.6 if "correlated" in design else 0.0
    declared: list[Categorical | Numeric] = []
    for number, weights in enumerate(DECLARED[design]):
        own = share * hidden + np.sqrt(1 - share**2) * rng.normal(size=N)
        # Levels in a random order along what they share.
        order = rng.permutation(len(weights))
        edges = np.cumsum((weights / np.sum(weights))[order])[:-1]
        columns[f"c{number}"] = order[np.searchsorted(edges, ndtr(own))]
        declared.append(Categorical(f"c{number}", tuple(range(len(weights)))))
        parts.append(columns[f"c{number}"][:, np.newaxis] == np.arange(1, len(weights)))
    for number in range(4):
        columns[f"x{number}"] = np.clip(share * hidden + np.sqrt(1 - share**2) * rng.normal(size=N), -4, 4)
        declared.append(Numeric(f"x{number}", -4, 4))
        parts.append(columns[f"x{number}"][:, np.newaxis])
    return pd.DataFrame(columns), Domain(tuple(declared)), np.hstack(parts).astype(np.float64)


def fitted(cell: Cell, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Errors and standard errors in those of the plain fit, whether intervals cover the truth, all
    for indicators; and the distance of the coefficients for prediction.
    """
    import statsmodels.api as sm

    rng = np.random.default_rng(seed)
    declared: dict[str, Any] = {"epsilon": cell.epsilon, "delta": 1e-6}
    table: Any
    if cell.design in DECLARED:
        table, declared["domain"], X = declared_table(cell.design, rng)
        rare = X.shape[1] - 4
        # Levels differ in both directions.
        slopes = np.array([0.8 if level % 2 else -0.8 for level in range(rare)] + [0.3] * 4)
    else:
        table = X = drawn_columns(cell.design, rng)
        rare = len(DESIGNS[cell.design])
        slopes = np.array([1.0] * rare + [0.3] * (COLUMNS - rare))
        low, high = np.full(COLUMNS, -4.0), np.full(COLUMNS, 4.0)
        low[:rare], high[:rare] = 0.0, 1.0
        declared["bounds_X"] = (low, high)
    eta = (X - X.mean(axis=0)) @ slopes
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
    model.fit(table, y)
    plain = sm.GLM(y, sm.add_constant(X), family=law).fit()
    results, some = model.results_, slice(1, 1 + rare)
    estimates, errors = np.ravel(results.params)[some], np.ravel(results.bse)[some]
    low, high = np.asarray(results.intervals())[some].T
    away = np.concatenate([np.ravel(model.intercept_), np.ravel(model.coef_)]) - plain.params
    distance = float(away @ np.linalg.solve(plain.cov_params(), away)) / len(away)
    unit = plain.bse[some]
    return (
        (estimates - plain.params[some]) / unit,
        errors / unit,
        (low <= slopes[:rare]) & (slopes[:rare] <= high),
        distance,
    )


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
        f"`python -m experiments.rare_categories --sets {sets}`: n = {N:,}. First {COLUMNS} columns, of which some are",
        "indicators of these shares of rows, with slopes of 1; then declared categories with slopes of .8 and -.8,",
        "beside 4 normal columns. Errors and standard errors of their slopes, in",
        "standard errors of the plain fit of the same rows; the part of 95 % intervals that hold the truth; and the",
        "squared distance of the coefficients for prediction from the plain ones, in plain covariances, per",
        "coefficient. An unknown error: noise hides the column, and the summary says so. The gamma family and the",
        "designs with regions and with a rare reference had no part in the choice of any constant.",
        "",
        "| model | indicators | epsilon | median error | root mean square | median std error | coverage | distance |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    cells = [
        Cell(model, design, epsilon) for model in MODELS for design in (*DESIGNS, *DECLARED) for epsilon in EPSILONS
    ]
    with ProcessPoolExecutor() as pool:
        for done, (cell, found) in enumerate(pool.map(_row, [(cell, sets) for cell in cells]), start=1):
            middle, root, error, covered, distance = found
            numbers = f"{middle:.1f} | {_number(root)} | {_number(error)} | {covered:.2f} | {_number(distance)}"
            lines.append(f"| {cell.model} | {cell.design} | {cell.epsilon:g} | {numbers} |")
            print(f"[{done}/{len(cells)}] {lines[-1]}", flush=True)
    write_page(RESULT, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

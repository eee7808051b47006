"""Coverage of 95 % intervals of GLMs: `python -m experiments.glm_coverage`, results beside this
file.

500 simulated data sets a cell: n = 20,000, 8 columns, delta 1e-6, bounds of x declared at 4 standard
deviations. Logistic, Poisson, and linear regression by the same descent, first with labels that
follow the model, then with errors that it does not have, and with missing cells.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from discreet import GeneralizedLinearRegressor, LogisticRegression, PoissonRegressor
from experiments.pages import write_page

N, COLUMNS = 20_000, 8
RESULT = Path(__file__).with_name("glm_coverage.md")
# The part of cells that are missing, at random: a row has nine.
MISSING = 0.02


@dataclass(frozen=True)
class Cell:
    model: str
    # Of the columns' covariance: its condition number.
    condition: float
    errors: str
    epsilon: float


AS_MODELLED = [
    Cell(model, condition, "as the model says", epsilon)
    for model in ("logistic", "poisson", "linear")
    for condition in (1.0, 30.0)
    for epsilon in (0.5, 1.0, 5.0)
]
OTHERWISE = [
    Cell(model, 1.0, errors, epsilon)
    for model, errors in (
        ("linear", "heteroscedastic"),
        ("linear", "skewed"),
        ("linear", "t(3)"),
        ("linear", "missing cells"),
        ("logistic", "missing cells"),
        ("poisson", "missing cells"),
        ("poisson", "overdispersed"),
    )
    for epsilon in (0.3, 1.0, 3.0)
]


def drawn_errors(kind: str, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Of mean 0; their variance is 1, on average over rows."""
    if kind == "heteroscedastic":
        return rng.normal(size=len(X)) * np.exp(0.5 * X[:, 0] - 0.25)
    if kind == "skewed":
        return rng.exponential(size=len(X)) - 1
    if kind == "t(3)":
        return rng.standard_t(3, len(X)) / np.sqrt(3)
    return rng.normal(size=len(X))


def covered(cell: Cell, seed: int, n: int = N) -> np.ndarray:
    """For each parameter, intercept first: does its interval hold the truth?"""
    basis, _ = np.linalg.qr(np.random.default_rng(7).normal(size=(COLUMNS, COLUMNS)))
    root = (basis * np.sqrt(np.geomspace(1, 1 / cell.condition, COLUMNS))) @ basis.T
    slopes = np.linspace(-0.5, 0.5, COLUMNS)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, COLUMNS)) @ root
    stds = np.linalg.norm(root, axis=1)
    declared = {"epsilon": cell.epsilon, "delta": 1e-6, "bounds_X": (-4 * stds, 4 * stds)}
    truth = np.concatenate([[-0.5 if cell.model != "linear" else 1.0], slopes])
    eta = truth[0] + X @ slopes
    if cell.model == "logistic":
        model, y = LogisticRegression(**declared, classes=[0, 1]), (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    elif cell.model == "poisson":
        mean = np.exp(eta) * (rng.gamma(2.0, 0.5, n) if cell.errors == "overdispersed" else 1.0)
        model, y = PoissonRegressor(**declared, bounds_y=(0, 40)), rng.poisson(mean)
    else:
        reach = 1 + 4 * np.hypot(np.linalg.norm(root @ slopes), 1)
        # Errors beyond the declared range are clipped; wide bounds keep them, as a careful user's do.
        wide = 1 if cell.errors == "as the model says" else 5
        model = GeneralizedLinearRegressor(**declared, bounds_y=(-wide * reach, wide * reach))
        y = eta + drawn_errors(cell.errors, X, rng)
    if cell.errors == "missing cells":
        X[rng.random(X.shape) < MISSING] = np.nan
    low, high = model.fit(X, y).results_.intervals().T
    return (low <= truth) & (truth <= high)


def _row(asked: tuple[Cell, int]) -> tuple[Cell, np.ndarray]:
    cell, sets = asked
    return cell, np.mean([covered(cell, seed) for seed in range(sets)], axis=0)


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=500)
    sets = parser.parse_args(arguments).sets
    lines = [
        "# Coverage of 95 % intervals of generalized linear models",
        "",
        f"`python -m experiments.glm_coverage --sets {sets}`: n = {N:,}, {COLUMNS} columns. The coverage of one",
        f"parameter has a standard error of {np.sqrt(0.95 * 0.05 / sets):.3f}; the lowest and the highest of nine",
        "parameters deviate by more. Errors: heteroscedastic, with a standard deviation of exp(x / 2) in one",
        "column; skewed, exponential; t(3), of heavy tails; counts with twice the variance of Poisson's at a",
        f"mean of 2 (overdispersed); {MISSING:.0%} of cells missing at random, so that {(1 - MISSING) ** COLUMNS:.0%}",
        "of rows are complete.",
        "",
        "| model | condition | errors | epsilon | all parameters | lowest | highest |",
        "|---|---|---|---|---|---|---|",
    ]
    cells = [*AS_MODELLED, *OTHERWISE]
    with ProcessPoolExecutor() as pool:
        for done, (cell, rates) in enumerate(pool.map(_row, [(cell, sets) for cell in cells]), start=1):
            model, condition, errors, epsilon = astuple(cell)
            shares = f"{rates.mean():.3f} | {rates.min():.3f} | {rates.max():.3f}"
            lines.append(f"| {model} | {condition:g} | {errors} | {epsilon:g} | {shares} |")
            print(f"[{done}/{len(cells)}] {lines[-1]}", flush=True)
    write_page(RESULT, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

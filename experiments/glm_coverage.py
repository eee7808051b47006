"""Coverage of 95 % intervals of GLMs: `python -m experiments.glm_coverage`, results beside this
file.

500 simulated data sets a cell: n = 20,000, 8 columns, condition numbers 1 and 30 of the covariance,
epsilon 0.5, 1 and 5, delta 1e-6, bounds of x declared at 4 standard deviations. Logistic, Poisson,
and linear regression by the same descent.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from discreet import GeneralizedLinearRegressor, LogisticRegression, PoissonRegressor

N, COLUMNS = 20_000, 8
MODELS = ("logistic", "poisson", "linear")
CONDITIONS = (1.0, 30.0)
EPSILONS = (0.5, 1.0, 5.0)
RESULT = Path(__file__).with_name("glm_coverage.md")


def covered(model: str, condition: float, epsilon: float, seed: int, n: int = N) -> np.ndarray:
    """For each parameter, intercept first: does its interval hold the truth?"""
    basis, _ = np.linalg.qr(np.random.default_rng(7).normal(size=(COLUMNS, COLUMNS)))
    root = (basis * np.sqrt(np.geomspace(1, 1 / condition, COLUMNS))) @ basis.T
    slopes = np.linspace(-0.5, 0.5, COLUMNS)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, COLUMNS)) @ root
    stds = np.linalg.norm(root, axis=1)
    declared = {"epsilon": epsilon, "delta": 1e-6, "bounds_X": (-4 * stds, 4 * stds)}
    truth = np.concatenate([[-0.5 if model != "linear" else 1.0], slopes])
    eta = truth[0] + X @ slopes
    if model == "logistic":
        y = rng.random(n) < 1 / (1 + np.exp(-eta))
        fitted = LogisticRegression(**declared, classes=[False, True]).fit(X, y)
    elif model == "poisson":
        fitted = PoissonRegressor(**declared, bounds_y=(0, 20)).fit(X, rng.poisson(np.exp(eta)))
    else:
        reach = 1 + 4 * np.hypot(np.linalg.norm(root @ slopes), 1)
        fitted = GeneralizedLinearRegressor(**declared, bounds_y=(-reach, reach)).fit(X, eta + rng.normal(size=n))
    low, high = fitted.results_.intervals().T
    return (low <= truth) & (truth <= high)


def _row(cell: tuple[str, float, float, int]) -> tuple[str, float, float, np.ndarray]:
    model, condition, epsilon, sets = cell
    rates = np.mean([covered(model, condition, epsilon, seed) for seed in range(sets)], axis=0)
    return model, condition, epsilon, rates


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=500)
    sets = parser.parse_args(arguments).sets
    lines = [
        "# Coverage of 95 % intervals of generalized linear models",
        "",
        f"`python -m experiments.glm_coverage --sets {sets}`: n = {N:,}, {COLUMNS} columns. The coverage of one",
        f"parameter has a standard error of {np.sqrt(0.95 * 0.05 / sets):.3f}; the lowest and the highest of nine",
        "parameters deviate by more.",
        "",
        "| model | condition | epsilon | all parameters | lowest | highest |",
        "|---|---|---|---|---|---|",
    ]
    cells = [(model, condition, epsilon, sets) for model in MODELS for condition in CONDITIONS for epsilon in EPSILONS]
    with ProcessPoolExecutor() as pool:
        for done, (model, condition, epsilon, rates) in enumerate(pool.map(_row, cells), start=1):
            shares = f"{rates.mean():.3f} | {rates.min():.3f} | {rates.max():.3f}"
            lines.append(f"| {model} | {condition:g} | {epsilon:g} | {shares} |")
            print(f"[{done}/{len(cells)}] {lines[-1]}", flush=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

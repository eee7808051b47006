"""Forecasts from a sample beside what is measured, on simulated tables of many kinds.

Run from the root: OPENBLAS_NUM_THREADS=1 python -m experiments.plan_sample. Writes
experiments/plan_sample.md. The rules of planning/resampling.py were chosen on such tables, so that
the real ones of experiments/plan_real.md are a test.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from discreet import plan
from discreet.planning.sample import Sample
from experiments.pages import write_page
from experiments.plan_real import DELTA, SAMPLES, forecast, measured

OUT = Path(__file__).with_suffix(".md")
KINDS = {
    "normal": "independent normal columns",
    "correlated": "correlations of .7",
    "t(3) columns": "independent columns of t(3)",
    "lognormal": "independent lognormal columns",
    "rare": "half of the columns are indicators of 3 %",
    "t(3) errors": "errors of t(3), or counts with a gamma rate",
    "skewed errors": "exponential errors, or counts with a gamma rate",
    "heteroscedastic": "correlated; errors grow with a column, or counts with a gamma rate",
    "wrong model": "correlated lognormal columns, and a square that the model lacks",
}
TABLES, EPSILONS = ((6000, 4), (20_000, 8)), (0.3, 3.0)


def columns(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    correlated = kind in ("correlated", "wrong model", "heteroscedastic")
    root = np.linalg.cholesky(0.7 * np.ones((d, d)) + 0.3 * np.eye(d)) if correlated else np.eye(d)
    X = rng.standard_normal((n, d)) @ root.T
    if kind in ("lognormal", "wrong model"):
        X = np.exp(0.8 * X)
    if kind == "t(3) columns":
        X = rng.standard_t(3, (n, d))
    if kind == "rare":
        X[:, : d // 2] = rng.random((n, d // 2)) < 0.03
        return X
    return np.clip(X, *np.quantile(X, [0.005, 0.995], axis=0))


def table(kind: str, family: str, n: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = columns(kind, n, d, rng)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = Z @ np.where(np.arange(d) % 2 == 0, 1, -1) / math.sqrt(d)
    if kind == "wrong model":
        eta = eta + 0.3 * (np.minimum(Z[:, 0], 4) ** 2 - 1)
    if family == "logistic":
        return X, (rng.random(n) < 1 / (1 + np.exp(1 - eta))).astype(float)
    if family == "poisson":
        spread = kind in ("t(3) errors", "skewed errors", "heteroscedastic")
        rate = rng.gamma(2, 0.5, n) if spread else 1.0
        return X, np.minimum(rng.poisson(np.exp(np.clip(eta / 2, -3, 2)) * rate), 15.0)
    errors = rng.standard_normal(n)
    if kind == "t(3) errors":
        errors = rng.standard_t(3, n)
    if kind == "skewed errors":
        errors = 1.2 * (rng.exponential(1, n) - 1)
    if kind == "heteroscedastic":
        errors = errors * np.exp(0.5 * Z[:, 0])
    return X, 0.8 * eta + 0.7 * errors


def ratios(kind: str, family: str, n: int, d: int, repeats: int, rng: np.random.Generator) -> list[list[list[float]]]:
    """For every epsilon and each size of samples: measured over forecast."""
    X, y = table(kind, family, n, d, rng)
    bounds = {"bounds_X": (X.min(axis=0), X.max(axis=0)), "bounds_y": (y.min(), y.max())}
    people = Sample.of(family, (X, y), **bounds)
    inflation = np.diag(np.linalg.inv(np.corrcoef(X, rowvar=False)))
    found = []
    for epsilon in EPSILONS:
        seen, _ = measured(people, epsilon, repeats, inflation)
        found.append([])
        for size in SAMPLES:
            some = rng.choice(n, size, replace=False)
            told = plan(family, n=n, epsilon=epsilon, delta=DELTA, sample=(X[some], y[some]), **bounds)
            found[-1].append(seen.over(forecast(told, inflation)))
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeats", type=int, default=10)
    repeats = arguments.parse_args().repeats
    rng, lines, every = np.random.default_rng(0), [], []
    for kind, words in KINDS.items():
        families = (
            ["linear", "poisson"]
            if "errors" in kind or kind == "heteroscedastic"
            else ["linear", "logistic", "poisson"]
        )
        cells = [one for family in families for n, d in TABLES for one in ratios(kind, family, n, d, repeats, rng)]
        every += cells
        lines.append(f"| {kind}: {words} | {len(cells)} | {_within(np.array(cells))} |")
        print(lines[-1], flush=True)
    sizes = " | ".join(f"{size:,}" for size in SAMPLES)
    text = [
        "# Forecasts from a sample, on simulated tables",
        "",
        f"`OPENBLAS_NUM_THREADS=1 python -m experiments.plan_sample --repeats {repeats}`, delta {DELTA:g}. The share",
        "of cells in which a measurement is within a factor of 1.5 of its forecast from 500 or 2,000 of the rows:",
        "linear, logistic and Poisson models, 6,000 rows of 4 columns and 20,000 of 8, epsilon .3 and 3.",
        "Columns are cut at their",
        "0.5 % and 99.5 % quantiles, except indicators. Quantities are those of experiments/plan_real.md.",
        "",
        f"| tables | cells | noise: {sizes} | distance: {sizes} | risk: {sizes} |",
        "|" + "---|" * 8,
        *lines,
        f"| all | {len(every)} | {_within(np.array(every))} |",
        "",
    ]
    write_page(OUT, "\n".join(text))


def _within(found: np.ndarray) -> str:
    shares = np.mean((found > 1 / 1.5) & (found < 1.5), axis=0)
    return " | ".join(f"{shares[k, i]:.0%}" for i in range(3) for k in range(len(SAMPLES)))


if __name__ == "__main__":
    main()

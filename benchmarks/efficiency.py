"""The default fit's squared error over that of a fit without privacy, beside its limit.

The error is that of ``results_``'s estimate in the metric of the Fisher information, times n over
the number of coefficients: 1 is the non-private fit, in expectation. With few data sets, the error
of the non-private fit on these sets may be far from 1, so two columns are paired with it: the ratio
of both errors, and 1 + the squared distance between both fits, which has the same expectation where
privacy adds no bias and does not depend on the luck of the sets. The limit is that of the best fixed
clip norm with hindsight, true coordinates and 70 % of the budget in one gradient, by Monte Carlo in
the same run.

    python -m benchmarks.efficiency [--sets 8] [--rows 5000 20000 200000] [--write]
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import discreet
from discreet.glm import ClippedScore, family, fit_plain, link
from discreet.privacy import Budget

DELTA = 1e-6
RESULTS = Path(__file__).parent / "results" / "efficiency.md"
# Family, link, constant, length of the slopes, declared labels, dispersion.
KINDS = {
    "linear": ("gaussian", "identity", 1.0, 1.0, (-6.0, 8.0), 1.0),
    "logistic, 50 %": ("bernoulli", "logit", 0.0, 1.0, (0.0, 1.0), 1.0),
    "logistic, 2 %": ("bernoulli", "logit", -4.3, 1.0, (0.0, 1.0), 1.0),
    "poisson": ("poisson", "log", -0.5, 0.5, (0.0, 20.0), 1.0),
    "gamma": ("gamma", "log", 1.0, 0.5, (0.01, 100.0), 0.5),
}


def rows(kind: str, n: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    name, _, constant, length, _, dispersion = KINDS[kind]
    X = rng.standard_normal((n, d))
    slopes = rng.standard_normal(d)
    beta = np.concatenate([[constant], length * slopes / np.linalg.norm(slopes)])
    eta = beta[0] + X @ beta[1:]
    if name == "gaussian":
        y = eta + rng.standard_normal(n)
    elif name == "bernoulli":
        y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    elif name == "poisson":
        y = rng.poisson(np.exp(eta)).astype(float)
    else:
        y = rng.gamma(1 / dispersion, np.exp(eta) * dispersion)
    return X, y, beta


def information(kind: str, X: np.ndarray, beta: np.ndarray) -> np.ndarray:
    name, link_name, *_, dispersion = KINDS[kind]
    Z = np.column_stack([np.ones(len(X)), X])[:50_000]
    weight = family(name).weight(Z @ beta, link(link_name))
    return (Z * weight[:, np.newaxis]).T @ Z / len(Z) / dispersion


def estimator(kind: str, epsilon: float, neighbours: str):
    name, link_name, _, _, bounds_y, _ = KINDS[kind]
    asked = {"epsilon": epsilon, "delta": DELTA, "bounds_X": (-4, 4), "neighbours": neighbours}
    if name == "gaussian":
        return discreet.LinearRegression(**asked, bounds_y=bounds_y)
    if name == "bernoulli":
        return discreet.LogisticRegression(**asked)
    return discreet.GeneralizedLinearRegressor(**asked, bounds_y=bounds_y, family=name, link=link_name)


@dataclass(frozen=True)
class Run:
    """One data set: squared errors of the private and the plain fit, their squared distance, and the
    share of intervals that cover.
    """

    error: float
    plain: float
    distance: float
    covered: float


def one(kind: str, n: int, d: int, budgets: Sequence[tuple[float, str]], seed: int) -> list[Run]:
    """One data set: its plain fit, and a private one for each epsilon and relation."""
    X, y, beta = rows(kind, n, d, np.random.default_rng(seed))
    name, link_name, _, _, bounds_y, _ = KINDS[kind]
    metric = information(kind, X, beta)
    design, labels = np.column_stack([np.ones(n), X]), np.clip(y, *bounds_y)
    plain = fit_plain(family(name), link(link_name), design, labels, np.full(d + 1, 1e-8), beta)
    if name == "bernoulli":
        y = y.astype(int)

    def square(away: np.ndarray) -> float:
        return float(away @ metric @ away) * n / (d + 1)

    runs = []
    for epsilon, neighbours in budgets:
        table = estimator(kind, epsilon, neighbours).fit(X, y).results_.records()
        estimate = np.array([row["estimate"] for row in table])
        covered = [row["ci_low"] <= b <= row["ci_high"] for row, b in zip(table, beta, strict=True)]
        errors = (square(away) for away in (estimate - beta, plain - beta, estimate - plain))
        runs.append(Run(*errors, float(np.mean(covered))))
    return runs


def paired(runs: Sequence[Run]) -> tuple[float, float]:
    """The ratio of the mean errors of both fits, and its standard error (delta method)."""
    errors, plain = np.array([(run.error, run.plain) for run in runs]).T
    ratio = float(errors.mean() / plain.mean())
    away = errors - ratio * plain
    return ratio, math.sqrt(float(away @ away) / max(len(runs) - 1, 1) / len(runs)) / float(plain.mean())


def line(kind: str, n: int, d: int, epsilon: float, neighbours: str, runs: Sequence[Run]) -> str:
    """A line of the table."""
    ratio, spread = paired(runs)
    distances = 1 + np.array([run.distance for run in runs])
    return (
        f"| {kind} | {n:,} | {d} | {epsilon:g} | {neighbours} | {np.mean([run.error for run in runs]):.2f} "
        f"| {ratio:.2f} ± {spread:.2f} | {distances.mean():.2f} ({np.median(distances):.2f}, {distances.max():.2f}) "
        f"| {limit(kind, n, d, epsilon, neighbours):.2f} | {np.mean([run.covered for run in runs]):.3f} |"
    )


def limit(kind: str, n: int, d: int, epsilon: float, neighbours: str) -> float:
    name, link_name, _, _, bounds_y, dispersion = KINDS[kind]
    X, y, beta = rows(kind, 100_000, d, np.random.default_rng(1))
    Z, y = np.column_stack([np.ones(len(X)), np.clip(X, -4, 4)]), np.clip(y, *bounds_y)
    score = ClippedScore(family(name), link(link_name), *bounds_y, dispersion)
    length, eta, metric = np.linalg.norm(Z, axis=1), Z @ beta, information(kind, X, beta)
    norms = score.size(y, eta) * length
    noise = (2 if neighbours == "replace_one" else 1) / (n * Budget.of(epsilon, DELTA).mu * math.sqrt(0.7))
    risks = []
    for clip in np.quantile(norms, [0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 1.0]):
        contributions = Z * score.score(y, eta, clip / length)[:, np.newaxis]
        inverse = np.linalg.inv((Z * score.slope(y, eta, clip / length)[:, np.newaxis]).T @ Z / len(Z))
        middle = contributions.T @ contributions / len(Z) / n + (noise * clip) ** 2 * np.eye(d + 1)
        risks.append(float(np.trace(metric @ inverse @ middle @ inverse)) * n / (d + 1))
    return min(risks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 20_000, 200_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[8, 20])
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--neighbours", nargs="+", default=["replace_one", "add_or_remove_one"])
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "| model | n | d | epsilon | relation | error / least | over the plain fit's | 1 + distance (median, max) "
        "| limit | coverage |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    budgets = [(epsilon, neighbours) for epsilon in asked.epsilons for neighbours in asked.neighbours]
    for kind in asked.kinds:
        for n in asked.rows:
            for d in asked.columns:
                sets = [one(kind, n, d, budgets, seed) for seed in range(asked.sets)]
                for budget, *runs in zip(budgets, *sets, strict=True):
                    lines.append(line(kind, n, d, *budget, runs))
                    print(lines[-1], flush=True)
    if asked.write:
        command = (
            f"python -m benchmarks.efficiency --sets {asked.sets} --rows {' '.join(map(str, asked.rows))} "
            f"--columns {' '.join(map(str, asked.columns))} --neighbours {' '.join(asked.neighbours)} --write"
        )
        head = [
            "# Efficiency",
            "",
            f"`{command}`, {time.strftime('%Y-%m-%d')}.",
            "Squared error of the estimate over that without privacy, in the Fisher metric: as expected (1), and of",
            "the plain fit to the same sets, with its standard error. 1 + distance: the squared distance to that",
            "fit, mean of the sets (median, largest). The limit is that of the best clip norm with hindsight.",
            "",
        ]
        RESULTS.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

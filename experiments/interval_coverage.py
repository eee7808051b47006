"""Coverage of 95 % intervals: `python -m experiments.interval_coverage`, results beside this file.

500 simulated data sets a cell: n = 20,000, 8 columns, condition numbers 1, 30 and (beyond what is
promised) 900 of the covariance, epsilon 0.5, 1 and 5, delta 1e-6, bounds declared at 4 standard
deviations. Least squares by one release (``solver="moments"``); ``glm_coverage`` has the descent.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from discreet import LinearRegression

N, COLUMNS = 20_000, 8
CONDITIONS = (1.0, 30.0, 900.0)
EPSILONS = (0.5, 1.0, 5.0)
RESULT = Path(__file__).with_name("interval_coverage.md")


def covered(condition: float, epsilon: float, seed: int, n: int = N) -> np.ndarray:
    """For each parameter, intercept first: does its interval hold the truth?"""
    basis, _ = np.linalg.qr(np.random.default_rng(7).normal(size=(COLUMNS, COLUMNS)))
    root = (basis * np.sqrt(np.geomspace(1, 1 / condition, COLUMNS))) @ basis.T
    truth = np.concatenate([[1.0], np.linspace(-1, 1, COLUMNS)])
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, COLUMNS)) @ root
    y = truth[0] + X @ truth[1:] + rng.normal(size=n)
    stds = np.linalg.norm(root, axis=1)
    y_reach = 1 + 4 * np.hypot(np.linalg.norm(root @ truth[1:]), 1)
    declared = {"bounds_X": (-4 * stds, 4 * stds), "bounds_y": (-y_reach, y_reach)}
    model = LinearRegression(epsilon=epsilon, delta=1e-6, solver="moments", **declared).fit(X, y)
    low, high = model.results_.intervals().T
    return (low <= truth) & (truth <= high)


def _row(cell: tuple[float, float, int]) -> tuple[float, float, np.ndarray]:
    condition, epsilon, sets = cell
    return condition, epsilon, np.mean([covered(condition, epsilon, seed) for seed in range(sets)], axis=0)


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=500)
    sets = parser.parse_args(arguments).sets
    lines = [
        "# Coverage of 95 % intervals",
        "",
        f"`python -m experiments.interval_coverage --sets {sets}`: n = {N:,}, {COLUMNS} columns.",
        "",
        "| condition | epsilon | all parameters | lowest | highest |",
        "|---|---|---|---|---|",
    ]
    cells = [(condition, epsilon, sets) for condition in CONDITIONS for epsilon in EPSILONS]
    with ProcessPoolExecutor() as pool:
        for done, (condition, epsilon, rates) in enumerate(pool.map(_row, cells), start=1):
            lines.append(
                f"| {condition:g} | {epsilon:g} | {rates.mean():.3f} | {rates.min():.3f} | {rates.max():.3f} |"
            )
            print(f"[{done}/{len(cells)}] {lines[-1]}", flush=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

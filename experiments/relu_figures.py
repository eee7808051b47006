"""RELU, Figures 1 and 2: loss along the way on California housing, gas turbine and wine, for every solver.

    python -m experiments.relu_figures [--repeats 5] [--slow-rows 5000]

As in the paper: 80 % of the rows to train, features standardised, y over its largest value, delta = n^-1.1; ReLU with
an intercept. Other than there, nothing is taken from private rows: 500 training rows are public and standardise, whiten
and give thresholds; y's largest value is declared (California 5.1, wine 10, NOx 120). The algorithms are one pass, so
the axis is the share of the steps done. Losses are half the mean squared error, of the iterate, not of the average or
the shrunk model that is returned: that is the dot at the end. ``sgd`` and ``glmtron`` ask
each row apart, which is slow: they have one repeat, and 5,000 private rows unless ``--slow-rows`` says otherwise.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from discreet import Public, ReLURegressor
from experiments.data import data_folder

RESULTS = Path(__file__).with_suffix(".md")
PUBLIC_ROWS = 500
EPSILONS = (0.05, 0.2, 0.5)
SOLVERS = ("sgd", "pgd", "glmtron", "tree", "minibatch", "auto")
SLOW = ("sgd", "glmtron")
PROGRESS = np.linspace(0, 1, 101)


@dataclass(frozen=True)
class Set:
    title: str
    file: str
    target: str
    largest: float
    leave_out: tuple[str, ...] = ()


SETS = (
    Set("California housing", "california_housing.parquet", "MedHouseVal", 5.1),
    Set("gas turbine, NOx", "gas_turbine_emissions.parquet", "NOX", 120.0, ("CO", "year")),
    Set("wine quality", "wine_quality_white.parquet", "quality", 10.0),
)


def load(one: Set, seed: int) -> tuple[np.ndarray, ...]:
    """Public, private and test rows, features standardised by the public ones."""
    frame = pd.read_parquet(data_folder(one.file) / one.file).drop(columns=list(one.leave_out))
    order = np.random.default_rng(seed).permutation(len(frame))
    X = frame.drop(columns=one.target).to_numpy(dtype=float)[order]
    y = frame[one.target].to_numpy(dtype=float)[order] / one.largest
    train = int(0.8 * len(frame))
    public = X[:PUBLIC_ROWS]
    X = (X - public.mean(axis=0)) / public.std(axis=0)
    private = slice(PUBLIC_ROWS, train)
    return X[:PUBLIC_ROWS], y[:PUBLIC_ROWS], X[private], y[private], X[train:], y[train:]


def loss(X: np.ndarray, y: np.ndarray, coefficients: np.ndarray) -> float:
    """Half the mean squared error of max(0, b + X w)."""
    return float(np.mean((np.maximum(coefficients[0] + X @ coefficients[1:], 0) - y) ** 2) / 2)


def without_privacy(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least squares by Gauss-Newton on the rows with a positive index."""
    design = np.column_stack([np.ones(len(X)), X])
    coefficients = np.linalg.lstsq(design, y, rcond=None)[0]
    for _ in range(20):
        seen = design @ coefficients > 0
        coefficients = np.linalg.lstsq(design[seen], y[seen], rcond=None)[0]
    return coefficients


def one_fit(job: tuple[int, str, float, int, int | None]) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Training and test loss along the way, and both of the returned model."""
    number, solver, epsilon, seed, rows = job
    X_public, y_public, X, y, X_test, y_test = load(SETS[number], seed)
    X, y = X[:rows], y[:rows]
    model = ReLURegressor(
        epsilon=epsilon,
        delta=len(y) ** -1.1,
        data_norm=3 * math.sqrt(X.shape[1]),
        bounds_y=(0, 1),
        public=Public(rows=X_public, y=y_public),
        solver=solver,
    ).fit(X, y)
    places = np.round(PROGRESS * (len(model.path_) - 1)).astype(int)
    along = [[loss(*rows, model.path_[place]) for place in places] for rows in ((X, y), (X_test, y_test))]
    last = np.concatenate([[model.intercept_], model.coef_])
    return np.array(along[0]), np.array(along[1]), loss(X, y, last), loss(X_test, y_test, last)


def plot(curves: dict, floors: dict, which: int, name: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(SETS), len(EPSILONS), figsize=(12, 10), sharex=True)
    for number, one in enumerate(SETS):
        for column, epsilon in enumerate(EPSILONS):
            axis = axes[number, column]
            for color, solver in enumerate(SOLVERS):
                along, last = curves[number, solver, epsilon]
                axis.plot(PROGRESS, along[which], color=f"C{color}", label=solver)
                axis.plot([1.03], [last[which]], "o", color=f"C{color}", markersize=5)
            constant, best = floors[number]
            axis.axhline(constant, color="grey", linestyle=":", label="constant")
            axis.axhline(best, color="black", linestyle="--", label="without privacy")
            axis.set_yscale("log")
            axis.set_ylim(0.6 * best, max(40 * constant, 1.5 * best))
            axis.set_title(f"{one.title}, epsilon {epsilon:g}", fontsize=10)
    axes[0, 0].legend(fontsize=8)
    figure.supxlabel("share of the steps; dots: the returned model")
    figure.supylabel(f"{('training', 'test')[which]} loss")
    figure.tight_layout()
    figure.savefig(RESULTS.with_name(name), dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--slow-rows", type=int, default=5000)
    arguments = parser.parse_args()
    data_folder(*(one.file for one in SETS))
    lines = [
        "# RELU, Figures 1 and 2",
        "",
        f"Made by `python -m experiments.relu_figures --repeats {arguments.repeats} "
        f"--slow-rows {arguments.slow_rows}`.",
        *(__doc__ or "").split("\n")[4:],
        "![training loss](relu_figures_train.png)",
        "![test loss](relu_figures.png)",
        "",
        "Test loss of the returned model, medians, at epsilon "
        + ", ".join(f"{epsilon:g}" for epsilon in EPSILONS)
        + ":",
        "",
        "| | constant | without privacy | " + " | ".join(SOLVERS) + " |",
        "|" + "---|" * (3 + len(SOLVERS)),
    ]
    curves, floors = {}, {}
    with multiprocessing.Pool(2) as pool:
        for number, one in enumerate(SETS):
            _, _, X, y, X_test, y_test = load(one, 0)
            floors[number] = float(np.mean((y_test - y.mean()) ** 2) / 2), loss(X_test, y_test, without_privacy(X, y))
            for solver in SOLVERS:
                repeats, rows = (1, arguments.slow_rows) if solver in SLOW else (arguments.repeats, None)
                jobs = [(number, solver, epsilon, seed, rows) for epsilon in EPSILONS for seed in range(repeats)]
                found = pool.map(one_fit, jobs, chunksize=1)
                for position, epsilon in enumerate(EPSILONS):
                    some = found[position * repeats : (position + 1) * repeats]
                    along = [np.median([fit[which] for fit in some], axis=0) for which in (0, 1)]
                    curves[number, solver, epsilon] = (
                        along,
                        [float(np.median([f[2 + w] for f in some])) for w in (0, 1)],
                    )
                print(one.title, solver, *(f"{curves[number, solver, e][1][1]:.5f}" for e in EPSILONS), flush=True)
            cells = [" ".join(f"{curves[number, solver, e][1][1]:.4f}" for e in EPSILONS) for solver in SOLVERS]
            lines.append(
                f"| {one.title} | {floors[number][0]:.4f} | {floors[number][1]:.4f} | " + " | ".join(cells) + " |"
            )
    plot(curves, floors, 0, "relu_figures_train.png")
    plot(curves, floors, 1, "relu_figures.png")
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

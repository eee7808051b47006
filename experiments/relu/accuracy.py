"""ReLU regression on synthetic rows: the default solver.

    python -m experiments.relu.accuracy [--seeds 20]

n = 10,000 rows of d = 10 Gaussian features (covariance I, or eigenvalues from 1 to 1/100 in random
directions), y = max(0, x^T w) + 0.5 N(0, 1) with x^T w of variance 1; declared: |x| <= 8 (13 with
condition 100), y in [-3, 6]. 1,000 public rows whiten; "private" has none. Excess risk is the mean
of (max(0, x^T w) - prediction)^2 over 10,000 fresh rows (RELU's own definition has half of it), the
constant 0 has about 0.49. Medians over seeds, replace-one neighbours.
"""

from __future__ import annotations

import argparse
import multiprocessing
from functools import partial
from pathlib import Path

import numpy as np

from discreet import GuaranteeError, Public, ReLURegressor
from experiments.pages import write_page

RESULTS = Path(__file__).with_suffix(".md")
ROWS, FEATURES, NOISE, DELTA = 10_000, 10, 0.5, 1e-6
EPSILONS = (0.05, 0.2, 0.5, 1.0, 3.0)


def make(seed: int, condition: float, rows: int = ROWS) -> tuple[np.ndarray, ...]:
    """Private rows, test rows with their means, public rows."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(FEATURES, FEATURES)))[0]
    values = np.geomspace(1, 1 / condition, FEATURES)
    root = (turn * np.sqrt(values / values.mean())) @ turn.T
    X = random.normal(size=(2 * rows + 1000, FEATURES)) @ root
    weights = random.normal(size=FEATURES)
    weights /= np.linalg.norm(root @ weights)
    means = np.maximum(X @ weights, 0)
    y = means + NOISE * random.normal(size=len(X))
    return X[:rows], y[:rows], X[rows : 2 * rows], means[rows : 2 * rows], X[2 * rows :], y[2 * rows :]


def excess(job: tuple[int, float, float, dict], delta: float = DELTA) -> float:
    """The excess risk of one fit; NaN where the printed noise is refused."""
    seed, condition, epsilon, options = job
    X, y, X_test, means, X_public, y_public = make(seed, condition)
    options = dict(options)
    public = Public(rows=X_public, y=y_public) if options.pop("whitening", "public") == "public" else None
    norm = 8.0 if condition == 1 else 13.0
    model = ReLURegressor(epsilon=epsilon, delta=delta, data_norm=norm, bounds_y=(-3, 6), public=public, **options)
    try:
        return float(np.mean((model.fit(X, y).predict(X_test) - means) ** 2))
    except GuaranteeError:
        return float("nan")


def row(pool, name: str, condition: float, options: dict, epsilons, seeds: int, delta: float = DELTA) -> str:
    jobs = [(seed, condition, epsilon, options) for epsilon in epsilons for seed in range(seeds)]
    found = np.array(pool.map(partial(excess, delta=delta), jobs, chunksize=1)).reshape(len(epsilons), seeds)
    medians = ["refused" if np.isnan(values).any() else f"{np.median(values):.4f}" for values in found]
    print(name, *medians, flush=True)
    return f"| {name} | " + " | ".join(medians) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    lines = [
        "# ReLU regression, synthetic: the default solver, delta 1e-6",
        "",
        f"Made by `python -m experiments.relu.accuracy --seeds {seeds}`.",
        *(__doc__ or "").split("\n")[4:],
        "| | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS) + " |",
        "|" + "---|" * (1 + len(EPSILONS)),
    ]
    with multiprocessing.Pool(2) as pool:
        for condition in (1.0, 100.0):
            for whitening in ("public", "private"):
                for intercept in (False, True):
                    name = f"condition {condition:g}, {whitening}, {'with' if intercept else 'no'} intercept"
                    options = {"whitening": whitening, "fit_intercept": intercept}
                    lines.append(row(pool, name, condition, options, EPSILONS, seeds))
        paper_delta = ROWS**-1.1
        name = f"condition 1, public, no intercept, delta n^-1.1 = {paper_delta:.1e} as in RELU"
        lines.append(row(pool, name, 1.0, {"fit_intercept": False}, EPSILONS, seeds, paper_delta))
    write_page(RESULTS, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

"""The default fits against scikit-learn's own on the same rows, one thread, in one run.

python -m benchmarks.descent_speed
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

TARGET = Path(__file__).parent / "results" / "descent_speed.md"
ROWS, COLUMNS, ROUNDS = 1_000_000, 20, 3


def cpu_seconds(action: Callable[[], object]) -> float:
    """The processor's time, all threads together: what other work takes on a shared machine is not
    counted.
    """
    start = time.process_time()
    action()
    return time.process_time() - start


def main() -> None:
    """Time both in turns and write the ratios."""
    from sklearn import linear_model as plain

    import discreet  # after the affinity is set: it decides the number of workers

    rng = np.random.default_rng(0)
    X, beta = rng.standard_normal((ROWS, COLUMNS)), rng.standard_normal(COLUMNS) / np.sqrt(COLUMNS)
    eta = X @ beta
    asked = {"epsilon": 1.0, "delta": 1e-7, "bounds_X": (-4, 4)}
    pairs = {
        "linear": (
            discreet.LinearRegression(**asked, bounds_y=(-6, 6)),
            plain.LinearRegression(),
            eta + rng.standard_normal(ROWS),
        ),
        "logistic": (
            discreet.LogisticRegression(**asked),
            plain.LogisticRegression(),
            (rng.random(ROWS) < 1 / (1 + np.exp(-eta))).astype(int),
        ),
        "Poisson": (
            discreet.PoissonRegressor(**asked, bounds_y=(0, 20)),
            plain.PoissonRegressor(),
            rng.poisson(np.exp(-0.5 + 0.5 * eta)),
        ),
    }
    lines = [f"| {ROWS:,} x {COLUMNS} | discreet (s) | scikit-learn (s) | ratio |", "|---|---|---|---|"]
    for name, (ours, theirs, y) in pairs.items():
        ours.fit(X[:400_000], y[:400_000])  # compiles the loops
        fits = (partial(ours.fit, X, y), partial(theirs.fit, X, y))
        times = [[cpu_seconds(fit) for fit in fits] for _ in range(ROUNDS)]
        first, second = np.median(times, axis=0)
        lines.append(f"| {name} | {first:.2f} | {second:.2f} | {first / second:.1f} |")
        print(lines[-1], flush=True)
    head = [
        "# Speed of the default fits",
        "",
        f"`python -m benchmarks.descent_speed`, {time.strftime('%Y-%m-%d')}. Processor time, one thread, the median of",
        f"{ROUNDS} rounds in one run.",
        "",
    ]
    TARGET.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        main()

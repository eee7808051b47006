"""A private gradient descent of 20 steps against 20 plain gradient passes in numpy, one thread, in one run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.progress import track
from threadpoolctl import threadpool_limits

COMMAND = "python -m benchmarks.descent_speed"
TARGET = Path(__file__).parent / "results" / "descent_speed.md"
ROWS, COLUMNS, STEPS = 1_000_000, 20, 20
ROUNDS = 5


def plain_passes(x: np.ndarray, y: np.ndarray) -> None:
    """What a gradient costs without privacy: two products and an elementwise function."""
    beta = np.zeros(COLUMNS)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-(x @ beta)))
        beta = beta - 0.1 * (x.T @ (chance - y)) / len(x)


def cpu_seconds(action: Callable[[], object]) -> float:
    """The processor's time, all threads together: what other work takes on a shared machine is not counted."""
    start = time.process_time()
    action()
    return time.process_time() - start


def main() -> None:
    """Time both in turns and write the ratios."""
    from discreet import LogisticRegression  # after the affinity is set: it decides the number of workers

    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (ROWS, COLUMNS))
    y = (random.random(ROWS) < 1 / (1 + np.exp(-x @ np.linspace(-1, 1, COLUMNS)))).astype(float)
    lines = []
    for neighbours in ("replace_one", "add_or_remove_one"):
        model = LogisticRegression(
            epsilon=1.0, delta=1e-6, bounds_X=(-1.0, 1.0), solver="gd", max_iter=STEPS, neighbours=neighbours
        )
        model.fit(x, y)  # compiles
        with threadpool_limits(1):
            plain_passes(x, y)
            pairs = [
                (cpu_seconds(lambda: plain_passes(x, y)), cpu_seconds(lambda m=model: m.fit(x, y)))
                for _ in track(range(ROUNDS), description=neighbours)
            ]
        ratios = sorted(fit / plain for plain, fit in pairs)
        plain, fit = min(pairs, key=lambda pair: pair[1])
        middle = ratios[ROUNDS // 2]
        lines.append(f"| {neighbours} | {plain:.2f} | {fit:.2f} | {middle:.1f} | {ratios[0]:.1f} to {ratios[-1]:.1f} |")
    text = [
        f"`{COMMAND}`",
        "",
        f"Logistic regression, {ROWS:,} x {COLUMNS}, {STEPS} gradient steps (and the first look, three second moments",
        "and the curvature) against as many plain passes in numpy: one thread, one run, processor seconds.",
        "",
        "| neighbours | plain | private | ratio, median | range |",
        "|---|---|---|---|---|",
        *lines,
        "",
    ]
    TARGET.write_text("\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    main()

"""Sparse models: accuracy on independent and correlated designs, and time and memory of a step at
full width.

    python -m benchmarks.sparse accuracy [--seeds 3]     excess log-loss, recall of the true columns
    python -m benchmarks.sparse size [--rows 80000] [--width 10000]

Accuracy: n 20,000, d 1,000, 10 true coefficients, delta 1/2n, replace_one. Independent: x uniform
in (-1, 1) and coefficients +-1. Others: normal x clipped to [-4, 4], which is declared;
coefficients +-1/2 at random places, or ("adjacent") at every second place of one stretch. AR(1)
with the correlation named; blocks of ten with correlation .7.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from pathlib import Path

import numpy as np
from scipy.special import expit

from discreet import SparseLogisticRegression

ROWS, WIDTH, TRUE = 20_000, 1_000, 10
EPSILONS = (0.1, 0.3, 1.0)
DESIGNS = ("independent", "AR(1) .5", "AR(1) .5 adjacent", "AR(1) .9", "blocks .7")
SOLVERS = ("auto", "two_stage", "iht", "frank_wolfe", "paper")
RESULTS = Path(__file__).parent / "results"


def rows_of(design: str, rows: int, rng: np.random.Generator) -> np.ndarray:
    if design == "independent":
        return rng.uniform(-1, 1, (rows, WIDTH))
    noise = rng.standard_normal((rows, WIDTH))
    if design.startswith("AR"):
        correlation = float(design.split()[1])
        for j in range(1, WIDTH):
            noise[:, j] = correlation * noise[:, j - 1] + math.sqrt(1 - correlation**2) * noise[:, j]
    else:
        shared = np.repeat(rng.standard_normal((rows, WIDTH // 10)), 10, axis=1)
        noise = math.sqrt(0.7) * shared + math.sqrt(0.3) * noise
    return np.clip(noise, -4, 4)


def problem(design: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows and labels, the true coefficients, and rows to test on."""
    rng = np.random.default_rng(seed)
    X = rows_of(design, ROWS, rng)
    places = WIDTH // 2 + 2 * np.arange(TRUE) if "adjacent" in design else rng.choice(WIDTH, TRUE, replace=False)
    beta = np.zeros(WIDTH)
    beta[places] = rng.choice([-1, 1], TRUE) * (1.0 if design == "independent" else 0.5)
    y = (rng.random(ROWS) < expit(X @ beta)).astype(int)
    return X.astype(np.float32), y, beta, rows_of(design, ROWS, rng)


def excess_loss(eta: np.ndarray, truth: np.ndarray) -> float:
    """The expected log-loss of eta less that of the true log-odds."""
    chance = expit(truth)
    return float(np.mean(np.logaddexp(0, eta) - np.logaddexp(0, truth) - chance * (eta - truth)))


def fit(design: str, solver: str, epsilon: float, X: np.ndarray, y: np.ndarray) -> SparseLogisticRegression:
    bounds = (-1, 1) if design == "independent" else (-4, 4)
    how = {"solver": "iht", "calibration": "paper"} if solver == "paper" else {"solver": solver}
    return SparseLogisticRegression(epsilon=epsilon, delta=1 / (2 * ROWS), sparsity=TRUE, bounds_X=bounds, **how).fit(
        X, y
    )


def accuracy(seeds: int) -> str:
    found: dict[tuple[str, str, float], list[tuple[float, float]]] = {}
    null: dict[str, list[float]] = {}
    for design in DESIGNS:
        for seed in range(seeds):
            X, y, beta, test = problem(design, seed)
            truth, true = test @ beta, np.flatnonzero(beta)
            null.setdefault(design, []).append(excess_loss(np.zeros(len(truth)), truth))
            for solver in SOLVERS:
                for epsilon in EPSILONS:
                    model = fit(design, solver, epsilon, X, y)
                    loss = excess_loss(model.decision_function(test), truth)
                    recall = float(np.isin(true, model.support_).mean())
                    found.setdefault((design, solver, epsilon), []).append((loss, recall))
            print(f"{design}, seed {seed}: done", flush=True)
    lines = ["| design (null model) | solver | " + " | ".join(f"epsilon {e}" for e in EPSILONS) + " |"]
    lines.append("|---|---|" + "---|" * len(EPSILONS))
    for design in DESIGNS:
        for solver in SOLVERS:
            cells = [np.mean(found[design, solver, epsilon], axis=0) for epsilon in EPSILONS]
            numbers = " | ".join(f"{loss:.4f} ({recall:.2f})" for loss, recall in cells)
            lines.append(f"| {design} ({np.mean(null[design]):.3f}) | {solver} | {numbers} |")
    intro = f"Mean excess log-loss over {seeds} data sets, in brackets the share of the true columns that was found."
    return "\n".join([intro, "", *lines])


def best_of(runs: int, function) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def size(rows: int, width: int) -> str:
    from discreet.curator import Curator
    from discreet.engines import MemoryEngine
    from discreet.privacy import GDP, picks_within
    from discreet.rows import Labels, LinearMap, ResidualRanking, WideEncoding, wide_block_rows

    rng = np.random.default_rng(0)
    X = np.empty((rows, width), dtype=np.float32)
    for start in range(0, rows, 4096):
        rng.random(out=X[start : start + 4096], dtype=np.float32)
        X[start : start + 4096] *= 2
        X[start : start + 4096] -= 1
    beta = np.zeros(width)
    beta[:10] = 1.0
    y = (rng.random(rows) < expit(X[:, :10].astype(float) @ beta[:10])).astype(float)
    residual = (y - 0.5).astype(np.float32)
    code = WideEncoding(np.full(width, -1.0), np.full(width, 1.0), 0.0, 1.0, X.size)
    curator = Curator(MemoryEngine(code.encode, X, y, block_rows=wide_block_rows(width)))
    columns = np.arange(20)
    query = ResidualRanking(
        width, LinearMap(np.full((1, 21), 0.1)), columns, Labels(0.5, 0.5), lambda t, eta: expit(eta) - t, 1.0, 1.0
    )
    curator.select(query, picks_within(GDP(0.1), 20))  # compiles
    plain, step = [], []
    for _ in range(5):  # taking turns, so that a busy machine slows both
        plain.append(best_of(1, lambda: X.T @ residual))
        step.append(best_of(1, lambda: curator.select(query, picks_within(GDP(0.1), 20))))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    start = time.perf_counter()
    model = SparseLogisticRegression(epsilon=1.0, delta=1 / (2 * rows), sparsity=10, bounds_X=(-1, 1)).fit(X, y)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = np.isin(np.arange(10), model.support_).mean()
    lines = [
        f"n {rows}, d {width}, float32, {X.nbytes / 1e9:.2f} GB.",
        "",
        "| | |",
        "|---|---|",
        f"| `X.T @ r`, best of 5 | {min(plain):.3f} s |",
        f"| one selection step (exact sums of all columns, picks), best of 5 | {min(step):.3f} s |",
        f"| ratio | {min(step) / min(plain):.2f} (median of pairs {np.median(np.divide(step, plain)):.2f}) |",
        f"| peak memory before the fit, after it, over the table's | {before / X.nbytes:.3f}, {after / X.nbytes:.3f} |",
        f"| whole fit, solver auto, epsilon 1 | {seconds:.1f} s, {found:.0%} of the true columns |",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("accuracy", "size"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=80_000)
    parser.add_argument("--width", type=int, default=10_000)
    options = parser.parse_args()
    if options.what == "accuracy":
        text, arguments = accuracy(options.seeds), f"accuracy --seeds {options.seeds}"
    else:
        text, arguments = size(options.rows, options.width), f"size --rows {options.rows} --width {options.width}"
    print(text)
    command = f"python -m benchmarks.sparse {arguments}"
    RESULTS.mkdir(exist_ok=True)
    title = f"# Sparse models: {options.what}\n\n`{command}`\n\n"
    (RESULTS / f"sparse_{options.what}.md").write_text(title + text + "\n")


if __name__ == "__main__":
    main()

"""COST, Figure 3: misclassification on a wide real data set, printed and tight, at the paper's
settings.

    python -m experiments.cost.swarm [--repeats 3] [--delta square]

The paper's Swarm Behaviour data (24,016 x 2,400) is not available here. In its place stand (1) a
synthetic stand-in of the same shape: 200 individuals with 12 attributes each, which share a
direction when they flock, and (2) a real wide set: superconductivity, its 81 features and all their
products (3,402 columns), label "critical temperature above 20 K". Bounds of (2) are the 1 and 99 %
quantiles of a tenth of the rows, which is set aside as public. Half of the other rows train and
half test; 50 printed steps of size .5 as in the paper, delta = 1 / 2n, or 1 / n^2 (``--delta
square``).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from discreet import SparseLogisticRegression
from experiments.data import data_folder

SPARSITIES, EPSILONS = (25, 50, 100), (0.2, 0.5)
PAPER = {(25, 0.2): 0.33, (50, 0.2): 0.21, (100, 0.2): 0.13, (25, 0.5): 0.28, (50, 0.5): 0.20, (100, 0.5): 0.10}
SQUARE = {(25, 0.2): 0.32, (50, 0.2): 0.22, (100, 0.2): 0.13, (25, 0.5): 0.33, (50, 0.5): 0.19, (100, 0.5): 0.08}
LIMIT = {(25, np.inf): 0.30, (50, np.inf): 0.21, (100, np.inf): 0.09}


def swarm(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The stand-in: flocking individuals move with the group, others on their own; positions say
    little.
    """
    rows, individuals, attributes = 24_016, 200, 12
    flocking = rng.random(rows) < 0.5
    X = rng.standard_normal((rows, individuals, attributes), dtype=np.float32)
    group = rng.standard_normal((rows, 1, 2), dtype=np.float32)
    together = (0.1 + 0.5 * rng.random((1, individuals, 1))).astype(np.float32) * flocking[:, None, None]
    X[:, :, :2] = (1 - together) * X[:, :, :2] + together * group
    X[:, :, 2:5] += 0.25 * flocking[:, None, None]  # alignment, cohesion and neighbours are higher in a flock
    return np.clip(X.reshape(rows, -1) / 4, -1, 1), flocking.astype(int)


def superconductors(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_parquet(data_folder("superconductivity.parquet") / "superconductivity.parquet")
    order = rng.permutation(len(frame))
    cells = frame.drop(columns="critical_temp").to_numpy(np.float32)[order]
    label = (frame["critical_temp"].to_numpy() > 20).astype(int)[order]
    public, cells, label = cells[: len(order) // 10], cells[len(order) // 10 :], label[len(order) // 10 :]
    low, high = np.quantile(public, [0.01, 0.99], axis=0)
    scaled = np.clip(2 * (cells - low) / np.maximum(high - low, 1e-9) - 1, -1, 1).astype(np.float32)
    first, second = np.triu_indices(scaled.shape[1])
    return np.hstack([scaled, scaled[:, first] * scaled[:, second]]), label


def non_private(X: np.ndarray, y: np.ndarray, sparsity: int) -> tuple[np.ndarray, float]:
    """Correlation screening without noise, then plain logistic regression on what it finds, in
    three rounds.
    """
    from sklearn.linear_model import LogisticRegression

    chosen, residual = np.zeros(0, dtype=int), y - y.mean()
    model = LogisticRegression(C=10.0, max_iter=500)
    for number in range(3):
        score = np.abs(X.T @ residual.astype(np.float32))
        score[chosen] = -1
        picks = sparsity // 3 + (number < sparsity % 3)
        chosen = np.append(chosen, np.argsort(-score)[:picks])
        model.fit(X[:, chosen], y)
        residual = y - model.predict_proba(X[:, chosen])[:, 1]
    return chosen, model


def errors(X: np.ndarray, y: np.ndarray, rng: np.random.Generator, square: bool) -> dict[tuple[str, int, float], float]:
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    delta = len(train) ** -2.0 if square else 1 / (2 * len(train))
    found = {}
    for sparsity in SPARSITIES:
        chosen, plain = non_private(X[train], y[train], sparsity)
        found["non-private", sparsity, np.inf] = float(np.mean(plain.predict(X[test][:, chosen]) != y[test]))
        for epsilon in EPSILONS:
            asked = {"epsilon": epsilon, "delta": delta, "sparsity": sparsity, "bounds_X": (-1, 1)}
            models = {
                "printed": SparseLogisticRegression(**asked, calibration="paper", max_iter=50, step=0.5),
                "iht, tight": SparseLogisticRegression(**asked, solver="iht"),
                "auto, tight": SparseLogisticRegression(**asked),
            }
            for name, model in models.items():
                wrong = model.fit(X[train], y[train]).predict(X[test]) != y[test]
                found[name, sparsity, epsilon] = float(np.mean(wrong))
    return found


def table(runs: list[dict[tuple[str, int, float], float]], square: bool) -> list[str]:
    printed = (SQUARE if square else PAPER) | LIMIT
    lines = ["| s | epsilon | paper, on Swarm | printed | iht, tight | auto, tight |", "|---|---|---|---|---|---|"]
    for sparsity in SPARSITIES:
        for epsilon in (*EPSILONS, np.inf):
            names = ["non-private"] * 3 if epsilon == np.inf else ["printed", "iht, tight", "auto, tight"]
            cells = [np.array([run[name, sparsity, epsilon] for run in runs]) for name in names]
            if epsilon == np.inf:
                shown = f"without privacy {cells[0].mean():.3f} ({cells[0].std():.3f}) | | "
            else:
                shown = " | ".join(f"{values.mean():.3f} ({values.std():.3f})" for values in cells)
            lines.append(f"| {sparsity} | {epsilon} | {printed[sparsity, epsilon]:.2f} | {shown} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--delta", choices=("half", "square"), default="half", help="1 / 2n, or 1 / n^2")
    asked = parser.parse_args()
    repeats, square = asked.repeats, asked.delta == "square"
    command = f"python -m experiments.cost.swarm --repeats {repeats} --delta {asked.delta}"
    lines = ["# COST, Figure 3", "", f"`{command}`", ""]
    lines += [__doc__.split("\n\n")[2].strip(), "", "Misclassification, mean (standard deviation over splits).", ""]
    for title, make in (("Synthetic stand-in", swarm), ("Superconductivity", superconductors)):
        runs = []
        for seed in range(repeats):
            rng = np.random.default_rng(seed)
            X, y = make(rng)
            runs.append(errors(X, y, rng, square))
            print(f"{title}, {seed}: done", flush=True)
        lines += [f"## {title}, {X.shape[0]} x {X.shape[1]}, {max(y.mean(), 1 - y.mean()):.3f} in one class", ""]
        lines += [*table(runs, square), ""]
    text = "\n".join(lines)
    print(text)
    (Path(__file__).parent / ("swarm_square.md" if square else "swarm.md")).write_text(text)


if __name__ == "__main__":
    main()

"""COST, Figures 1 and 2: log squared error of the iterates, printed, tight and non-private, dense and sparse.

    python -m experiments.cost_figures [--repeats 1] [--width 10000] [--only 2c]

Data as in the paper: x uniform in (-1, 1), beta uniform on the unit sphere (of its first s coordinates in Figure 2), y
from the logistic model, delta = 1 / 2n, ten steps of size 1 as printed, sparsity level twice the true one. "Printed"
in Figure 2 and "tight" in both run through the product; "printed" in Figure 1 (Algorithm 1) is simulated as printed.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit

from discreet.algorithms.sparse_iht import hard_threshold
from discreet.algorithms.sparse_iht_printed import printed_threshold
from discreet.algorithms.steps.glm_model import GlmModel
from discreet.algorithms.steps.sparse_model import mean_weight
from discreet.curator import Curator
from discreet.engines import MemoryEngine
from discreet.glm import Bernoulli, Logit
from discreet.privacy import Budget
from discreet.rows import Labels, LinearMap, OnSupport, WideEncoding, wide_block_rows
from discreet.rows.gradient import GradientSum

STEPS, TIGHT_STEPS = 10, 3
HERE = Path(__file__).parent
MODEL = GlmModel(Bernoulli(), Logit(), Labels(0.5, 0.5), penalty=np.zeros(0))


@dataclass(frozen=True)
class Setting:
    panel: str
    rows: int
    width: int
    sparsity: int
    epsilon: float

    def __str__(self) -> str:
        return f"n {self.rows}, d {self.width}, s {self.sparsity}, epsilon {self.epsilon}"


def settings(width: int) -> list[Setting]:
    """The panels of both figures; in Figure 1 the width is what the sparsity is in Figure 2."""
    one = [Setting("1a", 40_000, d, d, 0.5) for d in (10, 20, 40)]
    one += [Setting("1b", n, 20, 20, 0.5) for n in (20_000, 40_000, 80_000)]
    one += [Setting("1c", 40_000, 20, 20, epsilon) for epsilon in (0.2, 0.5, 0.8)]
    two = [Setting("2a", 40_000, width, s, 0.5) for s in (10, 20, 40)]
    two += [Setting("2b", n, width, 10, 0.5) for n in (20_000, 40_000, 80_000)]
    two += [Setting("2c", 40_000, width, 10, epsilon) for epsilon in (0.2, 0.5, 0.8)]
    return one + two


def data(setting: Setting, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.empty((setting.rows, setting.width), dtype=np.float32)
    for start in range(0, setting.rows, 4096):  # in pieces, so that no second table is ever in memory
        rng.random(out=X[start : start + 4096], dtype=np.float32)
        X[start : start + 4096] *= 2
        X[start : start + 4096] -= 1
    beta = np.zeros(setting.width)
    direction = rng.standard_normal(setting.sparsity)
    beta[: setting.sparsity] = direction / np.linalg.norm(direction)
    chance = expit(X[:, : setting.sparsity].astype(float) @ beta[: setting.sparsity])
    return X, (rng.random(setting.rows) < chance).astype(float), beta


def curator(X: np.ndarray, y: np.ndarray) -> Curator:
    width = X.shape[1]
    code = WideEncoding(np.full(width, -1.0), np.full(width, 1.0), 0.0, 1.0, X.size)
    return Curator(MemoryEngine(code.encode, X, y, block_rows=wide_block_rows(width)))


def errors(path, beta: np.ndarray) -> list[float]:
    """log |beta_t - beta|^2 of the iterates (columns, values)."""
    total = float(beta @ beta)
    return [
        math.log(total + float(np.sum((values - beta[columns]) ** 2 - beta[columns] ** 2))) for columns, values in path
    ]


def sparse_curves(setting: Setting, seed: int) -> dict[str, list[float]]:
    X, y, beta = data(setting, seed)
    budget, level = Budget.of(setting.epsilon, 1 / (2 * setting.rows)), 2 * setting.sparsity
    shape = {"width": setting.width, "sparsity": level}
    printed = printed_threshold(curator(X, y), MODEL, budget, steps=STEPS, **shape)
    tight = hard_threshold(curator(X, y), MODEL, budget, steps=TIGHT_STEPS, **shape)
    path, theta = [], np.zeros(setting.width)
    for _ in range(STEPS):
        support = np.flatnonzero(theta)
        residual = (expit(X[:, support].astype(float) @ theta[support]) - y).astype(np.float32)
        moved = theta - (X.T @ residual).astype(float) / setting.rows
        chosen = np.argpartition(-np.abs(moved), level)[:level]
        theta = np.zeros(setting.width)
        theta[chosen] = moved[chosen]
        path.append((chosen, theta[chosen].copy()))
    curves = {"printed": errors(printed.path, beta), "tight": errors(tight.path, beta)}
    return curves | {"non-private": errors(path, beta)}


def shortened(radius: float):
    """Scores of rows that are shortened to this length."""
    return lambda y, eta, length: MODEL.score(y, eta) * (radius / np.maximum(length, radius))


def dense_curves(setting: Setting, seed: int) -> dict[str, list[float]]:
    """Algorithm 1: printed noise (simulated), the product's clipped gradients, and plain gradient descent."""
    X, y, beta = data(setting, seed)
    table, rng, width, rows = X.astype(float), np.random.default_rng(seed), setting.width, setting.rows
    delta, every = 1 / (2 * rows), np.arange(width)
    # W_t ~ N(0, (step / n)^2 2 d B^2 log(2 T / delta) / (epsilon / T)^2), B = 4 (R + c_1) sigma_x = 8
    noise = 8 * math.sqrt(2 * width * math.log(2 * STEPS / delta)) / (setting.epsilon / STEPS) / rows
    paths: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"printed": [], "non-private": [], "tight": []}
    for name in ("printed", "non-private"):
        theta = np.zeros(width)
        for _ in range(STEPS):
            theta = theta - table.T @ (expit(table @ theta) - y) / rows
            theta = theta + noise * rng.standard_normal(width) * (name == "printed")
            paths[name].append((every, theta))
    source, costs = curator(X, y), Budget.of(setting.epsilon, delta).split([1.0] * TIGHT_STEPS)
    theta, radius = np.zeros(width), math.sqrt(width / 3)
    for number, cost in enumerate(costs):
        matrix = np.hstack([np.zeros((width + 1, 1)), np.vstack([theta, np.eye(width)])])
        query = GradientSum(LinearMap(matrix), MODEL.labels, shortened(1.1 * radius), 0.6 * radius, radius)
        gradient = OnSupport(source, every).sum(query, cost).value[:, 0] / rows
        # A Newton step for independent columns, averaged over the steps as in the sparse solver.
        theta = theta - gradient / (mean_weight(MODEL, 0.0, float(np.linalg.norm(theta)) / math.sqrt(3)) / 3) / (
            number + 1
        )
        paths["tight"].append((every, theta))
    return {name: errors(path, beta) for name, path in paths.items()}


_NOTE = """The non-private curve takes the paper's ten steps of size 1 and is far from its limit after them; the tight
solver starts with a Newton step for independent columns, which is why it can lie below. Curves: cost_figures.png."""


def report(found: dict[Setting, dict[str, list[float]]], command: str) -> str:
    lines = ["# COST, Figures 1 and 2", "", f"`{command}`", "", __doc__.split("\n\n")[2], ""]
    lines += [
        "Squared error after the last step (printed and non-private: 10 steps; tight: 3). Figure 1 is dense, 2 sparse.",
        "",
    ]
    lines += ["| panel | setting | printed | tight | non-private |", "|---|---|---|---|---|"]
    for setting, curves in found.items():
        cells = [f"{math.exp(curves[name][-1]):.3g}" for name in ("printed", "tight", "non-private")]
        lines.append(f"| {setting.panel} | {setting} | {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\n{_NOTE}\n"


def draw(found: dict[Setting, dict[str, list[float]]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = sorted({setting.panel for setting in found})
    figure, axes = plt.subplots(2, 3, figsize=(15, 8), squeeze=False)
    styles = {"printed": ":", "tight": "-", "non-private": "--"}
    for panel, axis in zip(["1a", "1b", "1c", "2a", "2b", "2c"], axes.flat, strict=True):
        axis.set_title(f"Figure {panel}")
        for colour, (setting, curves) in enumerate((s, c) for s, c in found.items() if s.panel == panel):
            for name, curve in curves.items():
                label = str(setting) if name == "tight" else None
                axis.plot(range(1, len(curve) + 1), curve, styles[name], color=f"C{colour}", label=label)
        axis.set_xlabel("step (solid: tight, dotted: printed, dashed: non-private)")
        axis.set_ylabel("log squared error")
        if panel in panels:
            axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--width", type=int, default=10_000)
    parser.add_argument("--only", default="", help="panels that start with this")
    options = parser.parse_args()
    found: dict[Setting, dict[str, list[float]]] = {}
    for setting in settings(options.width):
        if not setting.panel.startswith(options.only):
            continue
        started = time.perf_counter()
        run = dense_curves if setting.panel.startswith("1") else sparse_curves
        runs = [run(setting, seed) for seed in range(options.repeats)]
        found[setting] = {name: np.mean([one[name] for one in runs], axis=0).tolist() for name in runs[0]}
        ends = {name: round(math.exp(curve[-1]), 4) for name, curve in found[setting].items()}
        print(f"{setting.panel} {setting}: {ends} in {time.perf_counter() - started:.0f} s", flush=True)
    command = f"python -m experiments.cost_figures --repeats {options.repeats} --width {options.width}"
    if not options.only:
        (HERE / "cost_figures.md").write_text(report(found, command))
        draw(found, HERE / "cost_figures.png")


if __name__ == "__main__":
    main()

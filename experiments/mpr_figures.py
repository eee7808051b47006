"""MPR, Figures 2 and 3: distance of the fitted weights from the true ones as n grows, and against the least eigenvalue.

    python -m experiments.mpr_figures [--seeds 20] [--largest 100000]

Synthetic data as in the paper: 10 features uniform in [-1, 1], weights uniform in [-.1, .1], y = w.x, six parties of
two attributes (the last of one), k = sqrt(n) / sigma mixes for RMGM as printed. All but "discreet" are simulated as
printed; discreet runs through the product with its default number of mixes. The paper uses 1,000 seeds and n up to
3,000,000.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd

from discreet.parties import Plan
from experiments.mpr_table1 import DELTA, EPSILONS, released

FEATURES, PARTIES = 10, 6
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
BETA = 0.1


def data(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    weights = rng.uniform(-1 / FEATURES, 1 / FEATURES, FEATURES)
    x = rng.uniform(-1, 1, (n, FEATURES))
    return x, x @ weights, weights


def printed_noise(epsilon: float) -> float:
    return math.sqrt(4 * 2 * 2 * math.log(1.25 / DELTA)) / epsilon


def direct(x: np.ndarray, y: np.ndarray, epsilon: float, seed: int, *, debiased: bool) -> tuple[np.ndarray, float]:
    """DGM-OLS (debiased) or BGM-OLS, and the least absolute eigenvalue of the Hessian."""
    rng = np.random.default_rng(seed + 10_000)
    std = printed_noise(epsilon)
    noisy_x, noisy_y = x + std * rng.normal(size=x.shape), y + std * rng.normal(size=len(y))
    hessian = noisy_x.T @ noisy_x / len(x) + (1e-5 - std**2 * debiased) * np.eye(FEATURES)
    weights = np.linalg.solve(hessian, noisy_x.T @ noisy_y / len(x))
    return weights, float(np.abs(np.linalg.eigvalsh(hessian)).min())


def mixed(x: np.ndarray, y: np.ndarray, epsilon: float, seed: int) -> tuple[np.ndarray, float]:
    """RMGM-OLS as printed, and the least eigenvalue of its Hessian over n."""
    rng = np.random.default_rng(seed + 20_000)
    n, std = len(x), printed_noise(epsilon)
    mixes = max(FEATURES + 1, round(math.sqrt(n) * epsilon / math.sqrt(2 * math.log(1.25 / DELTA))))
    joint = np.zeros((mixes, FEATURES + 1))
    for start in range(0, n, 50_000):
        rows = np.column_stack([x[start : start + 50_000], y[start : start + 50_000]])
        joint += (2.0 * rng.integers(0, 2, (mixes, len(rows)), dtype=np.int8) - 1) @ rows
    joint = joint / math.sqrt(mixes) + std * rng.normal(size=joint.shape)
    hessian = joint[:, :-1].T @ joint[:, :-1] / n + 1e-5 * np.eye(FEATURES)
    return np.linalg.solve(hessian, joint[:, :-1].T @ joint[:, -1] / n), float(np.linalg.eigvalsh(hessian)[0])


def discreet_weights(x: np.ndarray, y: np.ndarray, epsilon: float, seed: int) -> np.ndarray:
    names = [f"x{i}" for i in range(FEATURES)]
    columns = [*names, "label"]
    tables = {
        f"party {j}": {"columns": {name: {"low": -1.0, "high": 1.0} for name in columns[2 * j : 2 * j + 2]}}
        for j in range(PARTIES)
    }
    basic = {"format": 1, "name": "figure 2", "key": "id", "people": len(x), "seed": str(seed), "label": "label"}
    plan = Plan.from_dict({**basic, "epsilon": epsilon, "delta": DELTA, "parties": tables})
    table = pd.DataFrame(np.column_stack([x, y]), columns=columns)
    return released(plan, table).regress("label", names).linear.shrunk[1:]


def distances(n: int, epsilon: float, seeds: int) -> dict[str, np.ndarray]:
    """|w^ - w| of every method, one entry a seed; "DGM eigenvalue" and "RMGM eigenvalue" for Figure 3."""
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        x, y, truth = data(n, seed)
        dgm, dgm_least = direct(x, y, epsilon, seed, debiased=True)
        rmgm, rmgm_least = mixed(x, y, epsilon, seed)
        bgm, _ = direct(x, y, epsilon, seed, debiased=False)
        errors = {
            "DGM": float(np.linalg.norm(dgm - truth)),
            "BGM": float(np.linalg.norm(bgm - truth)),
            "RMGM": float(np.linalg.norm(rmgm - truth)),
            "discreet": float(np.linalg.norm(discreet_weights(x, y, epsilon, seed) - truth)),
            "DGM eigenvalue": dgm_least,
            "RMGM eigenvalue": rmgm_least,
        }
        for name, value in errors.items():
            found.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in found.items()}


def plot(results: dict[tuple[float, int], dict[str, np.ndarray]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(EPSILONS) + 1, figsize=(17, 4))
    for axis, epsilon in zip(axes, EPSILONS, strict=False):
        sizes = sorted(n for e, n in results if e == epsilon)
        for method in ("DGM", "BGM", "RMGM", "discreet"):
            axis.loglog(sizes, [results[epsilon, n][method].mean() for n in sizes], marker="o", label=method)
        axis.set(title=f"Figure 2: epsilon {epsilon:g}", xlabel="n", ylabel="mean distance to the true weights")
        axis.legend()
    largest = max(n for _, n in results)
    for method in ("DGM", "RMGM"):
        found = results[EPSILONS[0], largest]
        axes[-1].loglog(found[f"{method} eigenvalue"], found[method], "o", label=method)
    axes[-1].set(
        title=f"Figure 3: n {largest:,}, epsilon 1", xlabel="least |eigenvalue| of the Hessian", ylabel="distance"
    )
    axes[-1].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--largest", type=int, default=100_000)
    settings = parser.parse_args()
    results = {}
    lines = [
        "# MPR, Figures 2 and 3",
        "",
        f"`python -m experiments.mpr_figures --seeds {settings.seeds} --largest {settings.largest}`. Mean distance of",
        f"the weights to the true ones, and in brackets how often it exceeds {BETA}. Plot: `mpr_figures.png`.",
        "",
        "| epsilon | n | DGM | BGM | RMGM | discreet |",
        "|---|---|---|---|---|---|",
    ]
    for epsilon in EPSILONS:
        for n in (size for size in SIZES if size <= settings.largest):
            found = results[epsilon, n] = distances(n, epsilon, settings.seeds)
            cells = [
                f"{found[m].mean():.3g} ({(found[m] > BETA).mean():.2f})" for m in ("DGM", "BGM", "RMGM", "discreet")
            ]
            lines.append(f"| {epsilon:g} | {n:,} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    here = Path(__file__)
    here.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plot(results, here.with_suffix(".png"))


if __name__ == "__main__":
    main()

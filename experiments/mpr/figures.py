"""MPR, Figures 2 and 3: distance of the fitted weights from the true ones as n grows, and against
the least eigenvalue.

    python -m experiments.mpr.figures [--seeds 1000] [--largest 3000000] [--product-seeds 3]

Synthetic data as in the paper: 10 features uniform in [-1, 1], weights uniform in [-.1, .1],
y = w.x, six parties of two attributes (the last of one), k = sqrt(n) / sigma mixes for RMGM. DGM,
BGM and RMGM as printed are drawn through their second moments, which decide the weights: exactly
for DGM and BGM (Bartlett's decomposition), and by the central limit theorem over n people for RMGM.
Above n = 100,000 a fifth of the seeds is used. "discreet" runs through the product, with
``method = "rmgm"`` up to n = 100,000, and above with as many slots in the place of mixes, which is
the same up to chance and needs no n k additions. The Insurance half of Figure 3 runs through the
product.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from discreet.parties import Plan
from discreet.report.figure_style import OURS, PEERS, key, save, styled, x_title
from experiments.data import data_folder
from experiments.mpr.table1 import DELTA, EPSILONS, PARTIES, load, make_plan, released

FEATURES = 10
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
BETAS = (0.1, 0.3, 1.0)
RIDGE = 1e-5
FEW = 100_000
Found = dict[str, np.ndarray]


def printed_noise(epsilon: float) -> float:
    return math.sqrt(4 * 2 * 2 * math.log(1.25 / DELTA)) / epsilon


def data(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The weights, and X^T X of n people."""
    weights = rng.uniform(-1 / FEATURES, 1 / FEATURES, FEATURES)
    gram = np.zeros((FEATURES, FEATURES))
    for start in range(0, n, 100_000):
        x = rng.uniform(-1, 1, (min(100_000, n - start), FEATURES))
        gram += x.T @ x
    return weights, gram


def direct(gram: np.ndarray, weights: np.ndarray, n: int, std: float, rng: np.random.Generator) -> tuple[Found, float]:
    """DGM-OLS and BGM-OLS on [X, y] + R, and the least absolute eigenvalue of DGM's Hessian.

    With X = Q L^T and [X, y] = Q A^T, [X, y]^T R = A Z for Z = Q^T R, and R^T R = Z^T
    Z + Wishart(n - 10).
    """
    root = np.vstack([np.eye(FEATURES), weights]) @ np.linalg.cholesky(gram)
    z = std * rng.normal(size=(FEATURES, FEATURES + 1))
    lower = np.tril(rng.normal(size=(FEATURES + 1, FEATURES + 1)), -1)
    lower[np.diag_indices(FEATURES + 1)] = np.sqrt(rng.chisquare(n - FEATURES - np.arange(FEATURES + 1)))
    noisy = (root @ root.T + root @ z + (root @ z).T + z.T @ z + std**2 * lower @ lower.T) / n
    biased = noisy[:-1, :-1] + RIDGE * np.eye(FEATURES)
    hessian = biased - std**2 * np.eye(FEATURES)
    fits = {"DGM": np.linalg.solve(hessian, noisy[:-1, -1]), "BGM": np.linalg.solve(biased, noisy[:-1, -1])}
    return fits, float(np.abs(np.linalg.eigvalsh(hessian)).min())


def mixed(gram: np.ndarray, weights: np.ndarray, n: int, std: float, mixes: int, rng: np.random.Generator) -> Found:
    """RMGM-OLS, and the eigenvalues of its Hessian over n: a mix of n people is a draw from N(0,
    [X, y]^T [X, y]).
    """
    root = np.vstack([np.eye(FEATURES), weights]) @ np.linalg.cholesky(gram)
    joint = rng.normal(size=(mixes, FEATURES)) @ root.T / math.sqrt(mixes)
    joint += std * rng.normal(size=joint.shape)
    hessian = joint[:, :-1].T @ joint[:, :-1] + RIDGE * np.eye(FEATURES)
    return {"RMGM": np.linalg.solve(hessian, joint[:, :-1].T @ joint[:, -1]), "least": np.linalg.eigvalsh(hessian) / n}


def printed_distances(n: int, seeds: int) -> dict[float, Found]:
    """|w^ - w| of every printed method for every epsilon, one entry a seed; with eigenvalues for
    Figure 3.
    """
    found: dict[float, dict[str, list[float]]] = {epsilon: {} for epsilon in EPSILONS}
    for seed in range(seeds):
        rng = np.random.default_rng([n, seed])
        weights, gram = data(n, rng)
        for epsilon in EPSILONS:
            std = printed_noise(epsilon)
            mixes = max(FEATURES + 1, round(math.sqrt(n) * epsilon / math.sqrt(2 * math.log(1.25 / DELTA))))
            fits, least = direct(gram, weights, n, std, rng)
            rmgm = mixed(gram, weights, n, std, mixes, rng)
            entries = {name: float(np.linalg.norm(fit - weights)) for name, fit in fits.items()}
            entries["RMGM"] = float(np.linalg.norm(rmgm["RMGM"] - weights))
            entries |= {"DGM eigenvalue": least, "RMGM eigenvalue": float(rmgm["least"][0])}
            for name, value in entries.items():
                found[epsilon].setdefault(name, []).append(value)
    return {epsilon: {name: np.array(values) for name, values in own.items()} for epsilon, own in found.items()}


def discreet_distances(n: int, epsilon: float, seeds: int) -> np.ndarray:
    names = [f"x{i}" for i in range(FEATURES)]
    columns = [*names, "label"]
    tables = {
        f"party {j}": {"columns": {name: {"low": -1.0, "high": 1.0} for name in columns[2 * j : 2 * j + 2]}}
        for j in range(6)
    }
    basic = {"format": 1, "name": "figure 2", "key": "id", "people": n, "label": "label", "epsilon": epsilon}
    distances = []
    for seed in range(seeds):
        rng = np.random.default_rng([n, seed])
        weights = rng.uniform(-1 / FEATURES, 1 / FEATURES, FEATURES)
        x = rng.uniform(-1, 1, (n, FEATURES))
        plan = Plan.from_dict({**basic, "seed": str(seed), "delta": DELTA, "parties": tables})
        if n > FEW:
            plan = replace(plan, method="dgm")
        table = pd.DataFrame(np.column_stack([x, x @ weights]), columns=columns)
        fitted = released(plan, table).regress("label", names).results_.shrunk[1:]
        distances.append(float(np.linalg.norm(fitted - weights)))
    return np.array(distances)


def insurance(seeds: int) -> Found:
    """Figure 3, right: distance to the least-squares weights of the same people against the least
    eigenvalue.
    """
    whole = load("Insurance", data_folder())
    table = whole.iloc[np.random.default_rng(0).permutation(len(whole))[:1070]].reset_index(drop=True)
    x, y = table.drop(columns="label").to_numpy(), table["label"].to_numpy()
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    found: dict[str, list[float]] = {}
    for seed in range(seeds):
        for method, mixes in (("dgm", "auto"), ("rmgm", 300)):
            plan = make_plan(table, PARTIES["Insurance"], 1.0, seed, calibration="paper", method=method, mixes=mixes)
            joint = released(plan, table)
            rows = np.concatenate([one.mixes.value for one in joint.releases], axis=1)
            rows /= math.sqrt(len(rows))
            # RMGM's Hessian is over n here, so that the two are on one scale; its weights do not
            # change by that.
            scale = 1 if method == "dgm" else 1 / len(table)
            hessian = rows[:, :-1].T @ rows[:, :-1] * scale
            hessian -= np.eye(len(best)) * (joint.releases[0].mixes.noise_std ** 2 if method == "dgm" else 0.0)
            hessian += RIDGE * scale * np.eye(len(best))
            fitted = np.linalg.solve(hessian, rows[:, :-1].T @ rows[:, -1] * scale)
            found.setdefault(method.upper(), []).append(float(np.linalg.norm(fitted - best)))
            least = float(np.abs(np.linalg.eigvalsh(hessian)).min())
            found.setdefault(f"{method.upper()} eigenvalue", []).append(least)
    return {name: np.array(values) for name, values in found.items()}


# The paper's methods in greys; RMGM with exact noise is what discreet does.
STYLES = (("DGM", "s--", PEERS[0]), ("BGM", "^--", PEERS[1]), ("RMGM", "v--", PEERS[2]), ("discreet", "o-", OURS))


def plot_figure_2(results: dict[tuple[float, int], Found], path: Path) -> None:
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(15, 9), layout="constrained")
        axes = figure.subplots(len(EPSILONS), len(BETAS) + 1, squeeze=False)
    for row, epsilon in zip(axes, EPSILONS, strict=True):
        sizes = sorted(n for e, n in results if e == epsilon)
        for method, style, colour in STYLES:
            known = [n for n in sizes if method in results[epsilon, n]]
            for axis, beta in zip(row, BETAS, strict=False):
                axis.semilogx(
                    known,
                    [(results[epsilon, n][method] > beta).mean() for n in known],
                    style,
                    color=colour,
                    label=method,
                    fillstyle="none",
                )
                axis.set(title=f"epsilon {epsilon:g}: P(distance > {beta:g})", ylim=(-0.05, 1.05))
            row[-1].loglog(
                known, [np.mean(results[epsilon, n][method]) for n in known], style, color=colour, label=method
            )
            row[-1].set(title=f"epsilon {epsilon:g}: mean distance")
    x_title(axes, "people (n)")
    key(figure, axes[0, -1])
    save(figure, path)


def plot_figure_3(synthetic: Found, real: Found, path: Path) -> None:
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=(10, 4.3), layout="constrained")
        axes = figure.subplots(1, 2)
    for axis, found, title in zip(axes, (synthetic, real), ("synthetic", "Insurance"), strict=True):
        for method, marker, colour in (("DGM", "s", PEERS[2]), ("RMGM", "o", OURS)):
            axis.loglog(found[f"{method} eigenvalue"], found[method], marker, color=colour, markersize=3, label=method)
        axis.set(title=f"{title}, epsilon 1", xlabel="least |eigenvalue| of the Hessian", ylabel="distance of weights")
        axis.minorticks_off()
    key(figure, axes[0])
    save(figure, path)


HEADER = """# MPR, Figures 2 and 3

`python -m experiments.mpr.figures --seeds {seeds} --largest {largest} --product-seeds {product_seeds}
--product-largest {product_largest}`. Mean distance to the true weights, and in brackets how often it is above
.1, .3 and 1. DGM, BGM, RMGM as printed: {seeds} seeds up to n = 100,000 and {fewer} above (the paper: 1,000); discreet:
{product_seeds}. Plots: `figure2.png` and `figure3.png`.

| epsilon | n | DGM | BGM | RMGM | discreet |
|---|---|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--product-seeds", type=int, default=3)
    parser.add_argument("--product-largest", type=int, default=SIZES[-1])
    settings = parser.parse_args()
    results: dict[tuple[float, int], Found] = {}
    for n in (size for size in SIZES if size <= settings.largest):
        for epsilon, found in printed_distances(n, settings.seeds if n <= FEW else settings.seeds // 5).items():
            if n <= settings.product_largest:
                found["discreet"] = discreet_distances(n, epsilon, settings.product_seeds)
            results[epsilon, n] = found
            print(epsilon, n, {name: round(float(np.mean(found[name])), 4) for name in found}, flush=True)
    lines = []
    for epsilon, n in sorted(results, key=lambda key: (-key[0], key[1])):
        found = results[epsilon, n]
        cells = []
        for method in ("DGM", "BGM", "RMGM", "discreet"):
            if method not in found:
                cells.append("")
                continue
            exceeded = ", ".join(f"{(found[method] > beta).mean():.2f}" for beta in BETAS)
            cells.append(f"{np.mean(found[method]):.3g} ({exceeded})")
        lines.append(f"| {epsilon:g} | {n:,} | {' | '.join(cells)} |")
    here = Path(__file__).parent
    header = HEADER.format(fewer=settings.seeds // 5, **vars(settings))
    (here / "figures.md").write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
    plot_figure_2(results, here / "figure2.png")
    million = results[EPSILONS[0], min(1_000_000, max(n for _, n in results))]
    plot_figure_3(million, insurance(min(60, settings.seeds)), here / "figure3.png")


if __name__ == "__main__":
    main()

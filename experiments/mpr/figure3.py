"""MPR, figure 3: distance of the fitted weights against the least eigenvalue of the Hessian."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from discreet.report.figure_style import OURS, PEERS, key, save, styled
from experiments.mpr.joint import PARTIES, load, make_plan, released
from experiments.mpr.synthetic import RIDGE, data, direct, mixed, printed_mixes, printed_noise
from experiments.runner import Cell, Figure, Runs, main

CELLS = [{"set": "synthetic"}, {"set": "Insurance"}]
PEOPLE, ROWS, EPSILON = 1_000_000, 1070, 1.0


def make(cell: Cell, seed: int) -> tuple[np.ndarray, np.ndarray] | pd.DataFrame:
    if cell["set"] == "synthetic":
        return data(PEOPLE, np.random.default_rng(seed))
    whole = load("Insurance")
    return whole.iloc[np.random.default_rng(0).permutation(len(whole))[:ROWS]].reset_index(drop=True)


def fit(curve: str, drawn: tuple[np.ndarray, np.ndarray] | pd.DataFrame, cell: Cell, seed: int) -> tuple[float, float]:
    """The distance and the least absolute eigenvalue."""
    if isinstance(drawn, pd.DataFrame):
        return insurance(curve, drawn, seed)
    weights, gram = drawn
    std, rng = printed_noise(EPSILON), np.random.default_rng([seed, 1])
    if curve == "DGM":
        fits, least = direct(gram, weights, PEOPLE, std, rng)
        fitted = fits["DGM"]
    else:
        fitted, least = mixed(gram, weights, PEOPLE, std, printed_mixes(PEOPLE, EPSILON), rng)
    return float(np.linalg.norm(fitted - weights)), least


def insurance(curve: str, table: pd.DataFrame, seed: int) -> tuple[float, float]:
    """Through the product; the distance is to the least-squares weights of the same people."""
    x, y = table.drop(columns="label").to_numpy(), table["label"].to_numpy()
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    asked = {"method": "dgm"} if curve == "DGM" else {"method": "rmgm", "mixes": 300}
    plan = make_plan(table, PARTIES["Insurance"], EPSILON, seed, calibration="paper", **asked)
    joint = released(plan, table, seed)
    rows = np.concatenate([one.mixes.value for one in joint.releases], axis=1)
    rows /= math.sqrt(len(rows))
    # RMGM's Hessian is over n here, so that the two are on one scale; its weights do not change by
    # that.
    scale = 1 if curve == "DGM" else 1 / len(table)
    hessian = rows[:, :-1].T @ rows[:, :-1] * scale
    hessian -= np.eye(len(best)) * (joint.releases[0].mixes.noise_std ** 2 if curve == "DGM" else 0.0)
    hessian += RIDGE * scale * np.eye(len(best))
    fitted = np.linalg.solve(hessian, rows[:, :-1].T @ rows[:, -1] * scale)
    return float(np.linalg.norm(fitted - best)), float(np.abs(np.linalg.eigvalsh(hessian)).min())


def scatter(figure: Figure, runs: Mapping[str, Runs], path: Path) -> None:
    from matplotlib.figure import Figure as Drawing

    with styled():
        drawing = Drawing(figsize=(9, 4), layout="constrained")
        axes = drawing.subplots(1, 2)
        for axis, name in zip(axes, ("synthetic", "Insurance"), strict=True):
            for curve, marker, colour in (("DGM", "s", PEERS[1]), ("RMGM", "o", OURS)):
                distance, least = (runs[curve].get((name, what), []) for what in ("distance", "least eigenvalue"))
                axis.loglog(least, distance, marker, color=colour, markersize=3, alpha=0.4, label=curve)
            axis.set(title=f"{name}, epsilon 1", xlabel="least absolute eigenvalue of the Hessian")
            axis.minorticks_off()
        axes[0].set_ylabel("distance of the weights")
        key(drawing, axes[0])
        drawing.suptitle(figure.title, fontsize=10)
    save(drawing, path)


FIGURE = Figure(
    name="figure3",
    title="MPR, figure 3: distance against the least eigenvalue of the Hessian",
    says="DGM's Hessian is more likely to have small eigenvalues, and there its weights are far off.",
    cells=CELLS,
    quick=CELLS[1:],
    make=make,
    fit=fit,
    curves=("DGM", "RMGM"),
    axis="what",
    points=[{"what": "distance"}, {"what": "least eigenvalue"}],
    repeats=1000,
    quick_repeats=10,
    fewer=lambda curve, cell: 1000 if cell["set"] == "synthetic" else 200,
    measure="distance of the weights, and the least absolute eigenvalue",
    notes=(
        "Synthetic: 1,000,000 people, drawn through second moments (experiments/mpr/synthetic.py). Insurance: 1,070\n"
        "people, through the product, RMGM with 300 mixes."
    ),
    draw=scatter,
    found=("Reproduced: DGM's distance grows as its least eigenvalue falls; RMGM's Hessian has none near 0."),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

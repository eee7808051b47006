"""MPR, Table 1: test error of linear regression on joint releases, on four of the paper's five data
sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from discreet.parties import Joint
from discreet.parties.printed import printed_ols
from experiments.mpr.joint import EPSILONS, PARTIES, load, make_plan, released
from experiments.runner import Cell, Figure, main

# DGM, BGM, RMGM for each epsilon, as the paper prints them.
PAPER = {
    "Insurance": ((0.7015, 0.0805, 0.0791), (0.7550, 0.0850, 0.0782), (0.7263, 0.0832, 0.0793)),
    "Bike": ((0.8105, 0.0691, 0.0581), (0.9080, 0.0703, 0.0711), (0.8792, 0.0707, 0.0700)),
    "Superconductor": ((0.9794, 0.0670, 0.0659), (1.0075, 0.0704, 0.0707), (0.9220, 0.0704, 0.0699)),
    "GPU": ((0.6953, 0.0158, 0.0137), (0.7843, 0.0160, 0.0160), (0.7822, 0.0160, 0.0165)),
}
OLS = {"Insurance": 0.008, "Bike": 0.017, "Superconductor": 0.009, "GPU": 0.007}
CELLS = [{"set": name, "epsilon": epsilon} for name in PARTIES for epsilon in EPSILONS]
# The paper takes the best of 100 to 10,000 mixes on the test set.
MIXES = {"RMGM 100": 100, "RMGM 300": 300}
CURVES = ("DGM", "BGM", *MIXES, "discreet", "constant", "no privacy")


@dataclass(frozen=True)
class Split:
    """Four fifths of the people, and the others for tests."""

    train: pd.DataFrame
    test: pd.DataFrame
    cell: Cell
    seed: int

    def joint(self, **more: object) -> Joint:
        plan = make_plan(self.train, PARTIES[self.cell["set"]], self.cell["epsilon"], self.seed, **more)
        return released(plan, self.train, self.seed)

    @cached_property
    def direct(self) -> Joint:
        """The release on which both DGM and BGM are trained."""
        return self.joint(calibration="paper", method="dgm")

    def error(self, predicted: np.ndarray) -> float:
        return float(np.mean((predicted - self.test["label"].to_numpy()) ** 2))

    def printed_error(self, coef: dict[str, float]) -> float:
        slopes = np.array(list(coef.values())[1:])
        return self.error(self.test.drop(columns="label").to_numpy() @ slopes + coef["const"])


def make(cell: Cell, seed: int) -> Split:
    whole = load(cell["set"])
    order = np.random.default_rng(seed).permutation(len(whole))
    cut = int(0.8 * len(whole))
    return Split(whole.iloc[order[:cut]].reset_index(drop=True), whole.iloc[order[cut:]], cell, seed)


def fit(curve: str, data: Split, cell: Cell, seed: int) -> float:
    if curve in ("DGM", "BGM"):
        return data.printed_error(printed_ols(data.direct, "label", training=curve.lower()))
    if curve in MIXES:
        return data.printed_error(printed_ols(data.joint(calibration="paper", mixes=MIXES[curve]), "label"))
    if curve == "discreet":
        model = data.joint().estimator("label")
        # Labels are declared to lie in [0, 1], so predictions outside are moved there.
        return data.error(np.clip(model.predict(data.test[list(model.feature_names_in_)]), 0, 1))
    if curve == "constant":
        return data.error(np.full(len(data.test), data.train["label"].mean()))
    design = [np.column_stack([np.ones(len(t)), t.drop(columns="label")]) for t in (data.train, data.test)]
    return data.error(design[1] @ np.linalg.lstsq(design[0], data.train["label"], rcond=None)[0])


def paper_lines() -> str:
    """The paper's own table."""
    lines = ["| set | epsilon | DGM | BGM | RMGM | OLS |", "|---|---|---|---|---|---|"]
    for name, rows in PAPER.items():
        for epsilon, row in zip(EPSILONS, rows, strict=True):
            numbers = " | ".join(f"{value:.4f}" for value in row)
            lines.append(f"| {name} | {epsilon:g} | {numbers} | {OLS[name]:.3f} |")
    return "\n".join(lines)


FIGURE = Figure(
    name="table1",
    title="MPR, Table 1: test error of linear regression on joint releases, delta 1e-5",
    says="RMGM has the least error in 12 of 15 cells (by its numbers in 11, and level in one), and DGM is "
    "far above. Its numbers:\n\n" + paper_lines(),
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["set"] == "Insurance"],
    make=make,
    fit=fit,
    curves=CURVES,
    axis="epsilon",
    repeats=20,
    quick_repeats=1,
    measure="mean squared test error",
    notes=(
        "DGM, BGM and RMGM (with 100 and 300 mixes) are the printed methods through the product, with\n"
        '`calibration = "paper"`; they have no intercept, as printed. `constant` is the non-private mean of the\n'
        "training labels, `no privacy` least squares. Features and label are scaled to [0, 1] by the table's own\n"
        "range, as the paper does; here that range stands for a declared one. Columns are split evenly among the\n"
        "parties, the label last. Only discreet's predictions are moved into the declared [0, 1], and only its plan\n"
        "names the likely label.\n\n"
        "Constants of discreet (radius, shares, mixes) were chosen while looking at these four data sets, on other\n"
        "splits; splits overlap in people, so this is no test on new data.\n\n"
        "Music Song (412,276 rows, 90 columns, 10 parties), the paper's fifth set, is not available here. The paper\n"
        "reports OLS .011; DGM 1.0167, RMGM .0202, BGM .7194 at epsilon 1; 1.6462, .1039, .7479 at .3; 1.5583,\n"
        ".5654, .7508 at .1."
    ),
    found=(
        "DGM diverges, as in the paper, and further (medians of 1 to 26, means, of single runs, up to 6 10^7);\n"
        "BGM is at the paper's numbers. Not reproduced: that RMGM is below BGM in most cells. With 300\n"
        "mixes it is in 2 of 12 cells by means (Bike and Superconductor at epsilon 1), in 6 by medians; the\n"
        "paper takes the best number of mixes on the test set. `discreet` is below all three in every cell.\n"
        "It is below the constant on Superconductor from epsilon .3 on (.021 and .017; constant .034), on\n"
        "Bike and GPU at epsilon 1, and level with it elsewhere: on Insurance (1,070 people) at every\n"
        "epsilon. It stays 1.3 to 4 times above least squares."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

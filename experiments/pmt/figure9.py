"""PMT, figure 9: logistic regression by iterations and mu, bank and banknote."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import LOGISTIC, logistic_errors, real
from experiments.runner import Cell, Figure, main

STEPS = 8
MUS = [("bank", 1), ("bank", 3), ("bank", 10), ("banknote", 3), ("banknote", 10), ("banknote", 20)]
CELLS = [{"set": name, "mu": mu, "iteration": t} for name, mu in MUS for t in (1, 2, 4, STEPS)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    penalty = 0.0 if cell["set"] == "bank" else 0.01
    return logistic_errors(real(cell["set"], seed), cell["mu"], penalty, 1e-3, STEPS, cell["iteration"])


FIGURE = Figure(
    name="figure9",
    title="PMT, figure 9: logistic regression by iterations and mu, bank and banknote",
    says="PMT with the smallest mu is below DP-LR with the largest.",
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["iteration"] == STEPS],
    run=run,
    curves=LOGISTIC,
    axis="iteration",
    repeats=100,
    measure="relative error of the coefficients",
    notes="Printed methods at each of their 8 steps; the others have no such path, and show where they end.",
)

if __name__ == "__main__":
    main(FIGURE, __file__)

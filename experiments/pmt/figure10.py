"""PMT, figure 10: logistic regression by iterations and lambda, bank and banknote."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import LOGISTIC, logistic_errors, real
from experiments.runner import Cell, Figure, main

STEPS = 8
SIZES = [*(("bank", size) for size in (0.0, 1e-3, 1e-2, 1e-1)), *(("banknote", size) for size in (0.005, 0.01, 0.05))]
CELLS = [{"set": name, "lambda": size, "iteration": t} for name, size in SIZES for t in (1, 2, 4, STEPS)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    mu = 3.0 if cell["set"] == "bank" else 10.0
    return logistic_errors(real(cell["set"], seed), mu, cell["lambda"], 1e-3, STEPS, cell["iteration"])


FIGURE = Figure(
    name="figure10",
    title="PMT, figure 10: logistic regression by iterations and lambda, bank and banknote",
    says="PMT hardly depends on lambda; DP-RR needs a large one, and pays for it.",
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

"""PMT, figure 8: logistic regression by iterations and lambda, simulation."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import LOGISTIC, logistic_errors, simulated
from experiments.runner import Cell, Figure, main

STEPS = 8
CELLS = [{"lambda": size, "iteration": t} for size in (0.0, 1e-3, 1e-2, 1e-1) for t in (1, 2, 4, STEPS)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    problem = simulated(8000, 100, 8, True, seed)
    return logistic_errors(problem, 10.0, cell["lambda"], 0.05, STEPS, cell["iteration"])


FIGURE = Figure(
    name="figure8",
    title="PMT, figure 8: logistic regression by iterations and lambda, simulation",
    says="PMT hardly depends on lambda; DP-RR needs a large one, and pays for it.",
    cells=CELLS,
    quick=[cell for cell in CELLS if cell["iteration"] in (1, 8)],
    run=run,
    curves=LOGISTIC,
    axis="iteration",
    repeats=100,
    measure="relative error of the coefficients",
    notes="Printed methods at each of their 8 steps; the others have no such path, and show where they end.",
)

if __name__ == "__main__":
    main(FIGURE, __file__)

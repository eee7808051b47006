"""PMT, figure 7: logistic regression by iterations and mu, simulation."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import LOGISTIC, logistic_errors, simulated
from experiments.runner import Cell, Figure, main

STEPS = 8
CELLS = [{"mu": mu, "iteration": t} for mu in (3, 5, 10) for t in (1, 2, 4, STEPS)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    problem = simulated(10_000, 100, 8, True, seed)
    return logistic_errors(problem, cell["mu"], 1e-3, 0.05, STEPS, cell["iteration"])


FIGURE = Figure(
    name="figure7",
    title="PMT, figure 7: logistic regression by iterations and mu, simulation",
    says="PMT with the smallest mu is below DP-LR with the largest.",
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

"""PMT, figure 3: ridge by lambda, simulation."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import PENALISED, ridge_errors, simulated
from experiments.runner import Cell, Figure, main

CELLS = [{"lambda": size} for size in (0.0, 1e-3, 1e-2, 1e-1)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    problem = simulated(10_000, 100, 10, False, seed)
    return ridge_errors(problem, 3.0, cell["lambda"], 0.05)


FIGURE = Figure(
    name="figure3",
    title="PMT, figure 3: ridge by lambda, simulation",
    says="PMT hardly depends on lambda; DP-RR needs a large one, and pays for it.",
    cells=CELLS,
    quick=[{"lambda": size} for size in (0.0, 1e-2)],
    run=run,
    curves=PENALISED,
    axis="lambda",
    repeats=300,
    measure="relative error of the coefficients",
)

if __name__ == "__main__":
    main(FIGURE, __file__)

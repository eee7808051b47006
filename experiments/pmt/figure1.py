"""PMT, figure 1: ridge by the number of rows, simulation."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import DP_GD, RIDGE, ridge_errors, simulated
from experiments.runner import Cell, Figure, main

CELLS = [{"n": n} for n in (2000, 5000, 10_000, 20_000)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    problem = simulated(cell["n"], 200, 10, False, seed)
    return ridge_errors(problem, 3.0, 0.0, 0.05, DP_GD["simulation"])


FIGURE = Figure(
    name="figure1",
    title="PMT, figure 1: ridge by the number of rows, simulation",
    says="PMT is below DP-RR and DP-GD; both SSP curves fall with n, DP-GD hardly.",
    cells=CELLS,
    quick=[{"n": n} for n in (2000, 10_000)],
    run=run,
    curves=RIDGE,
    axis="n",
    repeats=300,
    measure="relative error of the coefficients",
)

if __name__ == "__main__":
    main(FIGURE, __file__)

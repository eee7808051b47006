"""PMT, figure 2: ridge by the number of rows and mu, simulation."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import PENALISED, ridge_errors, simulated
from experiments.runner import Cell, Figure, main

CELLS = [{"n": n, "mu": mu} for mu in (1, 3, 10) for n in (2000, 5000, 10_000, 20_000)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    problem = simulated(cell["n"], 20, 10, False, seed)
    return ridge_errors(problem, cell["mu"], 0.01, 0.05)


FIGURE = Figure(
    name="figure2",
    title="PMT, figure 2: ridge by the number of rows and mu, simulation",
    says="PMT is below DP-RR even with a smaller mu; both fall with n and mu.",
    cells=CELLS,
    quick=[{"n": n, "mu": mu} for mu in (1, 10) for n in (2000, 10_000)],
    run=run,
    curves=PENALISED,
    axis="n",
    repeats=300,
    measure="relative error of the coefficients",
)

if __name__ == "__main__":
    main(FIGURE, __file__)

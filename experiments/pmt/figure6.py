"""PMT, figure 6: ridge by lambda, wine and CCPP."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.pmt.problems import PENALISED, real, ridge_errors
from experiments.runner import Cell, Figure, main

CELLS = [{"set": name, "lambda": size} for name in ("wine", "CCPP") for size in (0.0, 1e-3, 1e-2, 1e-1)]


def run(cell: Cell, seed: int) -> Mapping[str, float]:
    mu, eta = (20.0, 1e-3) if cell["set"] == "wine" else (3.0, 0.05)
    return ridge_errors(real(cell["set"], seed), mu, cell["lambda"], eta)


FIGURE = Figure(
    name="figure6",
    title="PMT, figure 6: ridge by lambda, wine and CCPP",
    says="PMT hardly depends on lambda; DP-RR needs a large one, and pays for it.",
    cells=CELLS,
    quick=[{"set": name, "lambda": size} for name in ("wine", "CCPP") for size in (0.0, 1e-2)],
    run=run,
    curves=PENALISED,
    axis="lambda",
    repeats=300,
    measure="relative error of the coefficients",
)

if __name__ == "__main__":
    main(FIGURE, __file__)

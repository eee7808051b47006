"""PMT, figure 6: ridge by lambda, wine and CCPP."""

from __future__ import annotations

from experiments.pmt.problems import PENALISED, Problem, real, ridge_error, with_ridge_goal
from experiments.runner import Cell, Figure, main

CELLS = [{"set": name, "lambda": size} for name in ("wine", "CCPP") for size in (0.0, 1e-3, 1e-2, 1e-1)]


def make(cell: Cell, seed: int) -> Problem:
    return with_ridge_goal(real(cell["set"], seed), cell["lambda"])


def fit(method: str, problem: Problem, cell: Cell, seed: int) -> float:
    mu, eta = (20.0, 1e-3) if cell["set"] == "wine" else (3.0, 0.05)
    return ridge_error(method, problem, mu, cell["lambda"], eta, seed)


FIGURE = Figure(
    name="figure6",
    title="PMT, figure 6: ridge by lambda, wine and CCPP",
    says="PMT hardly depends on lambda; DP-RR needs a large one, and pays for it.",
    cells=CELLS,
    quick=[{"set": name, "lambda": size} for name in ("wine", "CCPP") for size in (0.0, 1e-2)],
    make=make,
    fit=fit,
    curves=PENALISED,
    axis="lambda",
    repeats=300,
    measure="relative error of the coefficients",
    found=(
        "Reproduced on CCPP: PMT hardly depends on lambda; on wine it has three times the error without a\n"
        "penalty. Not reproduced: DP-RR is below PMT as printed but on wine without a penalty. The tight\n"
        "method has 6 to 44 times less error than the printed one, and 2 to 13 times less than DP-RR;\n"
        "`auto` 4 to 8 times less again."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

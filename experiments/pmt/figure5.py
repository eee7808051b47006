"""PMT, figure 5: ridge by the number of rows and mu, wine and CCPP."""

from __future__ import annotations

from experiments.pmt.problems import PENALISED, Problem, real, ridge_error, with_ridge_goal
from experiments.runner import Cell, Figure, main

ROWS = {"wine": (1000, 2000, 4653), "CCPP": (2000, 5000, 9376)}
MUS = [("wine", 3), ("wine", 10), ("wine", 20), ("CCPP", 1), ("CCPP", 3), ("CCPP", 10)]
CELLS = [{"set": name, "mu": mu, "n": n} for name, mu in MUS for n in ROWS[name]]


def make(cell: Cell, seed: int) -> Problem:
    return with_ridge_goal(real(cell["set"], seed).first(cell["n"]), 0.0)


def fit(method: str, problem: Problem, cell: Cell, seed: int) -> float:
    return ridge_error(method, problem, cell["mu"], 0.0, 1e-3, seed)


FIGURE = Figure(
    name="figure5",
    title="PMT, figure 5: ridge by the number of rows and mu, wine and CCPP",
    says="PMT is below DP-RR even with a smaller mu; both fall with n and mu.",
    cells=CELLS,
    quick=[{"set": "wine", "mu": 10, "n": 4653}, {"set": "CCPP", "mu": 3, "n": 9376}],
    make=make,
    fit=fit,
    curves=PENALISED,
    axis="n",
    repeats=300,
    measure="relative error of the coefficients",
    found=(
        "Errors fall with n and mu, as in the paper. That PMT as printed is below DP-RR holds, by medians,\n"
        "on wine at mu 10 with all rows and at mu 20 from 2,000 rows on, and nowhere on CCPP. The tight\n"
        "method is below both in every cell, least so on CCPP at mu 10 with all rows (.011, DP-RR .016).\n"
        "`auto` is lowest everywhere, 2 to 15 times below the tight method."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

"""PMT, figure 4: ridge by the number of rows, wine and CCPP."""

from __future__ import annotations

from experiments.pmt.problems import DP_GD, RIDGE, Problem, real, ridge_error, with_ridge_goal
from experiments.runner import Cell, Figure, main

ROWS = {"wine": (1000, 2000, 3000, 4653), "CCPP": (2000, 4000, 7000, 9376)}
CELLS = [{"set": name, "n": n} for name, rows in ROWS.items() for n in rows]


def make(cell: Cell, seed: int) -> Problem:
    return with_ridge_goal(real(cell["set"], seed).first(cell["n"]), 0.0)


def fit(method: str, problem: Problem, cell: Cell, seed: int) -> float:
    return ridge_error(method, problem, 3.0, 0.0, 0.05, seed, DP_GD[cell["set"]])


FIGURE = Figure(
    name="figure4",
    title="PMT, figure 4: ridge by the number of rows, wine and CCPP",
    says="PMT is below DP-RR and DP-GD; both SSP curves fall with n, DP-GD hardly.",
    cells=CELLS,
    quick=[{"set": "wine", "n": 4653}, {"set": "CCPP", "n": 9376}],
    make=make,
    fit=fit,
    curves=RIDGE,
    axis="n",
    repeats=300,
    measure="relative error of the coefficients",
    found=(
        "Not reproduced on these sets: DP-RR, with a declared radius, is below PMT as printed (by medians in "
        "every cell), whose radius makes its noise large; and DP-GD is below both. The tight method is 20 to "
        "150 times below the printed one, and about level with DP-GD on wine and at 2,000 rows of CCPP, else "
        "up to 2.3 times below it. `auto` is 3 to 7 times below the tight method, and 3 to 11 times below "
        "DP-GD."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

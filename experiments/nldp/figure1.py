"""NLDP, figure 1: Algorithm 1, logistic, Gaussian rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    1,
    "Algorithm 1, logistic, Gaussian rows",
    "gaussian",
    "logistic",
    found=(
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). Exact Gaussian noise has about .003, the unit randomizer a fourth of\n"
        "that."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

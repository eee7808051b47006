"""NLDP, figure 7: Algorithm 2, logistic, Bernoulli rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    7,
    "Algorithm 2, logistic, Bernoulli rows",
    "bernoulli",
    "logistic",
    found=(
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). The unit randomizer gains ten times over Gaussian noise."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

"""NLDP, figure 8: Algorithm 2, logistic, Bernoulli rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    8,
    "Algorithm 2, logistic, Bernoulli rows",
    "bernoulli",
    "logistic",
    found=(
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). With p = 10 Gaussian noise leaves .4, the unit randomizer .1."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

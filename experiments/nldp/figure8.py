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
        "The printed noise is not usable in any cell (medians of 20 and more, or no root; at p = 5 and "
        "epsilon 10 a median of .4 and a mean of 3). At p = 10 the unit randomizer has .02 to .2, Gaussian "
        "noise .2 to 1.4, and m hardly matters, as in the paper. From p = 20 on nothing is usable but the "
        "unit randomizer at epsilon 10 (.9), and that barely."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

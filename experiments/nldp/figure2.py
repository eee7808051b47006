"""NLDP, figure 2: Algorithm 1, logistic, Gaussian rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    2,
    "Algorithm 1, logistic, Gaussian rows",
    "gaussian",
    "logistic",
    found=(
        "The printed noise is not usable in any cell (squared relative errors of .7 and more, or no root). "
        "With tight noise the error rises with p (at p = 40 .5 to 1.7: there are 125 public rows). From m = "
        "200 to 10,000 it falls by a factor of 2 to 3 with Gaussian noise; with the unit randomizer at "
        "epsilon 4 by 10. That it hardly depends on m holds from 500 rows on, and roughly."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

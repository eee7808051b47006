"""NLDP, figure 14: Algorithm 4, logistic link, Bernoulli rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    14,
    "Algorithm 4, logistic link, Bernoulli rows",
    "bernoulli",
    "softplus",
    found=(
        "The printed noise is not usable in any cell (medians of about 1 and more). With tight noise errors "
        "rise with p, as the paper says: at p = 40, with 125 public rows, the unit randomizer has .6 at "
        "epsilon 10, and 1.5 at epsilon 4. At p = 10 it has medians of .002 to .01. From m = 200 to 10,000 "
        "they fall by factors of 2 and 3, and by less than 2 with Gaussian noise: m matters little, as in the "
        "paper, though not nothing. The unit randomizer has a sixth of the error of Gaussian noise (median of "
        "all cells), and less in every cell."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

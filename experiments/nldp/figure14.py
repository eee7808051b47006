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
        "The printed noise is not usable in any cell (squared relative errors of 1 and more). With tight "
        "noise errors rise with p: at p = 40, with 125 public rows, the unit randomizer has .6 at epsilon 10. "
        "m matters little, as in the paper: at p = 10 the unit randomizer has .001 to .03."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

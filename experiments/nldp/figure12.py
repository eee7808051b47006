"""NLDP, figure 12: Algorithm 4, cubic link, Bernoulli rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    12,
    "Algorithm 4, cubic link, Bernoulli rows",
    "bernoulli",
    "cubic",
    found=(
        "The printed noise is not usable in any cell (medians of 4 and more). With p = 5 the unit randomizer "
        "has medians of .01 and .02. With p = 10 it has .3 to .5 at epsilon 10 and .7 to 1.5 at epsilon 4, "
        "Gaussian noise 1.4 and more. m matters little, as in the paper: a factor of 2 with the unit "
        "randomizer from 200 to 10,000, and no trend with Gaussian noise. From p = 20 on the signal of the "
        "cubic link is below the noise of every method, and ours has medians of nearly 6 and more; single "
        "runs with p = 40 have no root."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

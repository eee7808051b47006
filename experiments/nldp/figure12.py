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
        "The printed noise is not usable in any cell (squared relative errors of 7 and more). With p = 10 the "
        "unit randomizer has .2 to .8 at epsilon 10, and Gaussian noise 1 and more; from p = 20 on the signal "
        "of the cubic link is below the noise of every method, and ours has errors of 4 and more."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

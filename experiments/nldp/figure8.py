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
        "The printed noise is not usable in any cell (medians of 68 and more, and 32 % of the runs have no "
        "root; at p = 5 and epsilon 10 a median of 1 and a mean of 2). At p = 10 the unit randomizer has "
        "medians of .03 to .2, Gaussian noise .2 to 1.4. From m = 200 to 10,000 they fall by factors of 1 to "
        "3: m matters little, as in the paper. The unit randomizer has an eighth of the error of Gaussian "
        "noise (median of all cells), and less in every cell. From p = 20 on nothing is usable but the unit "
        "randomizer at epsilon 10 (.7), and that barely; at p = 40 it has 89 and 17."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

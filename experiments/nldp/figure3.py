"""NLDP, figure 3: Algorithm 1, logistic, covariance U + I, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    3,
    "Algorithm 1, logistic, covariance U + I",
    "gaussian",
    "logistic",
    covariance="turned",
    found=(
        "The printed noise is not usable in any cell (medians of .9 and more; some runs have no root). U is a "
        "rotation: for a reflection U + I would be singular. Its symmetric part may still be nearly singular, "
        "so that single draws have errors 100 times the others', and decide the means. Medians with tight "
        "noise are larger than with a diagonal covariance, and fall with n and epsilon only roughly. Those of "
        "the unit randomizer are .0002 to .02 (p = 5), .003 to .06 (p = 10) and .04 to 4 (p = 20): a fifth of "
        "those of Gaussian noise (median of all cells), and 5 times those without noise. With p = 20 and few "
        "people (3 cells) they are above those of the printed method, whose errors of about 1 are those of "
        "the zero vector."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

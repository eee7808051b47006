"""NLDP, figure 4: Algorithm 1, logistic, covariance U + I, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    4,
    "Algorithm 1, logistic, covariance U + I",
    "gaussian",
    "logistic",
    covariance="turned",
    found=(
        "The printed noise is not usable in any cell (squared relative errors of .9 and more, or no root). "
        "The design decides (see figure 3): with p = 10 errors of .05 to .2 are left with tight noise at "
        "every m, and with p = 40, with 125 public rows, nothing is usable."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

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
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). With p = 10 the symmetric part of U + I has small eigenvalues, and errors\n"
        "of .1 to .2 are left with tight noise, too."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

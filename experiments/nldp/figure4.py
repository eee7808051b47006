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
        "The design decides: the symmetric part of U + I may be nearly singular, so that errors differ from "
        "draw to draw by a factor of 100. With p = 10 the unit randomizer has medians of .01 to 2.6 and "
        "Gaussian noise .02 to 18, where .001 to .09 are left without noise; m shows no clear effect. With "
        "p = 40 and 125 public rows ours is worse than the printed method, whose errors of about 1 are "
        "those of the zero vector: medians are in the hundreds (unit) and thousands (Gaussian), where .02 "
        "and .09 are left without noise."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

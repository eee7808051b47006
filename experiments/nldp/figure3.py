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
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). Tight errors are about those of a diagonal covariance."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

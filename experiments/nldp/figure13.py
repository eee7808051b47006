"""NLDP, figure 13: Algorithm 4, logistic link, Bernoulli rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    13,
    "Algorithm 4, logistic link, Bernoulli rows",
    "bernoulli",
    "softplus",
    found=(
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). Tight errors are .0003 to .003."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

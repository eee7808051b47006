"""NLDP, figure 7: Algorithm 2, logistic, Bernoulli rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    7,
    "Algorithm 2, logistic, Bernoulli rows",
    "bernoulli",
    "logistic",
    found=(
        "The printed noise is usable for p = 5 at epsilon 20 only (.1 to .4); else errors are .5 and more, or "
        "there is no root. The unit randomizer has less error than Gaussian noise in every cell, by 6 "
        "(median). With p = 20 it needs epsilon 10 and n = 400,000, and Gaussian noise more than that."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

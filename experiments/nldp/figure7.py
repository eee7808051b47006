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
        "The printed noise is usable for p = 5 at epsilon 20 (medians of .1 to .4), and hardly at epsilon 10 "
        "with n = 700,000 (.4); else medians are about 1 and more, and 17 % of all runs have no root. With "
        "tight noise the error falls with n and epsilon and rises with p, as the paper says. The unit "
        "randomizer has less error than Gaussian noise in every cell, by 7 (median). With p = 20 it needs "
        "epsilon 10 and n = 400,000 (.3), Gaussian noise epsilon 20 and n = 700,000 (.4)."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

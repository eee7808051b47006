"""NLDP, figure 1: Algorithm 1, logistic, Gaussian rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    1,
    "Algorithm 1, logistic, Gaussian rows",
    "gaussian",
    "logistic",
    found=(
        "Reproduced with tight noise, not with the printed one, which is not usable in any cell (medians of 1 "
        "and more; 6 % of the runs have no root). With tight noise the error falls with n and epsilon and "
        "rises with p, as the paper says: from .24 (p = 20, epsilon 4, n = 100,000) to .0003 with exact "
        "Gaussian noise. The unit randomizer has a fourth of that (median of all cells), and less in every "
        "cell: about 8 times what is left without noise."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

"""NLDP, figure 9: Algorithm 3, sigmoid link, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    9,
    "Algorithm 3, sigmoid link",
    "gaussian",
    "sigmoid",
    found=(
        "The printed moments have no root in most runs, or errors of 3 and more. With tight noise the error "
        "falls with n and epsilon and rises with p, as the paper says: Gaussian noise has .0003 to .4, the "
        "unit randomizer less than a third (median; it is above in 2 of 36 cells)."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

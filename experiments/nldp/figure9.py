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
        "The printed moments have no root in most runs, and where they have one, errors of 1 and more. With "
        "tight noise the error falls with n and epsilon and rises with p, as the paper says: Gaussian noise "
        "has .0005 to .3, the unit randomizer less than a third of that (median of all cells)."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

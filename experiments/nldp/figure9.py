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
        "The printed moments have no root in 72 % of the runs, and where they have one, nearly all errors are "
        "1 and more. With tight noise the error falls with n and epsilon and rises with p, as the paper says: "
        "Gaussian noise has medians of .0004 to .3, the unit randomizer a fourth of that (median of all "
        "cells), and less in every cell: about 8 times what is left without noise."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

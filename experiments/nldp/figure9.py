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
        "On the small grid (epsilon 10): the printed moments have no root in most runs, or errors of\n"
        "10^7. Tight errors are .0005 to .003; at n = 100,000 the unit randomizer is not better than\n"
        "Gaussian noise."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

"""NLDP, figure 11: Algorithm 4, cubic link, Bernoulli rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    11,
    "Algorithm 4, cubic link, Bernoulli rows",
    "bernoulli",
    "cubic",
    found=(
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). The cubic link has the weakest signal of all figures: Gaussian noise\n"
        "leaves .05 to .1, the unit randomizer .01."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

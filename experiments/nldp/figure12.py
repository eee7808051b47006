"""NLDP, figure 12: Algorithm 4, cubic link, Bernoulli rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    12,
    "Algorithm 4, cubic link, Bernoulli rows",
    "bernoulli",
    "cubic",
    found=(
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). With p = 10 the signal of the cubic link is below the noise of every\n"
        "method (errors of about 1): ours is not better there."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

"""NLDP, figure 10: Algorithm 3, sigmoid link, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    10,
    "Algorithm 3, sigmoid link",
    "gaussian",
    "sigmoid",
    found=(
        "On the small grid (epsilon 10): the printed moments have no root. With tight noise 500 public\n"
        "rows suffice for p = 10; for p = 5 the unit randomizer is not better than Gaussian noise."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

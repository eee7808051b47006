"""NLDP, figure 6: Algorithm 2, exponential, Bernoulli rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    6,
    "Algorithm 2, exponential, Bernoulli rows",
    "bernoulli",
    "exponential",
    found=(
        "On the small grid (epsilon 10): the printed method is usable for p = 5, not for p = 10. With\n"
        "tight noise 500 public rows suffice."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

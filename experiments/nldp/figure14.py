"""NLDP, figure 14: Algorithm 4, logistic link, Bernoulli rows, by p and m."""

from __future__ import annotations

from experiments.nldp.curves import by_width_and_public
from experiments.runner import main

FIGURE = by_width_and_public(
    14,
    "Algorithm 4, logistic link, Bernoulli rows",
    "bernoulli",
    "softplus",
    found=(
        "On the small grid (epsilon 10): the printed noise is not usable (squared relative errors of 1\n"
        "and more, or no root). With tight noise 500 public rows suffice for p = 10."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

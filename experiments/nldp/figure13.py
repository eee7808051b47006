"""NLDP, figure 13: Algorithm 4, logistic link, Bernoulli rows, by n and epsilon."""

from __future__ import annotations

from experiments.nldp.curves import by_rows
from experiments.runner import main

FIGURE = by_rows(
    13,
    "Algorithm 4, logistic link, Bernoulli rows",
    "bernoulli",
    "softplus",
    found=(
        "The printed noise is usable for p = 5 at epsilon 20 only (about .1 from n = 200,000 on). With tight "
        "noise the error falls with n and epsilon and rises with p, as the paper says: Gaussian noise has "
        ".0002 to .8, the unit randomizer a fifth of that (median of all cells), and less in every cell."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

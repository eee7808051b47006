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
        "The printed noise is not usable in any cell (medians of 1.4 and more). The cubic link has the "
        "weakest signal of all figures. With p = 5 the unit randomizer has .002 to .05; with p = 10 it needs "
        "epsilon 10 and n = 400,000 (.1 to .2); with p = 20 no method is usable: ours has errors of 3 and "
        "more, the printed one of 100 and more. Without any noise the paper's estimator has .8 to 3.6 at p = "
        "20."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

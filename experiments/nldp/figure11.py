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
        "The printed noise is not usable in any cell (medians of 1.5 and more). The cubic link has the "
        "weakest signal of all figures. With p = 5 the unit randomizer has medians of .002 to .03, less than "
        "the paper's estimator without noise (.02 to .09), whose bias does not fall with n. With p = 10 it "
        "needs epsilon 10 and n = 400,000 (.1 to .2). With p = 20 no method is usable: ours has medians of "
        "nearly 4 and more (one run has no root), the printed one of 100 and more, and even without any noise "
        "the paper's estimator has .8 to 3.6. The unit randomizer has about a third of the error of Gaussian "
        "noise (median of all cells)."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)

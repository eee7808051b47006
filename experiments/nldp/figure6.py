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
        "The printed method has errors of 10 and more but for p = 5 at epsilon 10 (median .3). With tight "
        "noise errors rise with p, and fall with m: at p = 10 the unit randomizer has .016 and .004 with 200 "
        "and 10,000 public rows at epsilon 4, .018 and .002 at epsilon 10. So m matters more than the paper "
        "says."
    ),
)

if __name__ == "__main__":
    main(FIGURE, __file__)
